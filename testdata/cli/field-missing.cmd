explain field 'cluster/outbound|7070||catalog.shop.svc.cluster.local/conect_timeout' --demo
