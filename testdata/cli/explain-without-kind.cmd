explain cart --demo
