explain field 'cluster/outbound|7070||catalog.shop.svc.cluster.local/connect_timeout' --demo
