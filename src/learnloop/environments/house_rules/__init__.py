"""Text-to-SQL over the databases of companies whose conventions stand in no schema."""
