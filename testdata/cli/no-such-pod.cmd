explain pod ledger --demo
