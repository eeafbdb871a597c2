diff --demo --delete shop/nothing
