explain field 'listener/virtualInbound/filter_chains[6]/filters/envoy.filters.network.http_connection_manager/typed_config/http_filters/shop.stamp-requests/typed_config/@type' --demo
