explain filter limit --demo
