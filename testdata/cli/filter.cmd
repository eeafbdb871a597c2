explain filter catalog-patience --demo
