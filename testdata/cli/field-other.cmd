explain field cluster/outbound|70 --demo
