"""Files within files: archives, mailboxes and attachments of messages."""
