lint lint/unread/service.yaml timeout.yaml --select EF0
