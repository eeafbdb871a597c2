explain gateway cart --demo
