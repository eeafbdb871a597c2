diff --demo
