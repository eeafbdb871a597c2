diff --demo --delete shop/catalog-patience
