"""Where the reference keeps its records: one small transactional protocol, several stores."""
