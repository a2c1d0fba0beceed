"""From a history to what people read: tables, timelines, charts and files for machines."""
