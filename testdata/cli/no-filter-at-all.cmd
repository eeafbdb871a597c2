explain filter nothing --demo -f lint/unread/note.yaml
