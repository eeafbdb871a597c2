explain pod cart --demo
