-- Withdraws the links that were mailed to a member who is removed, so that they have no say again when they come back.
CREATE OR REPLACE FUNCTION withdraw_links_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE action_links SET withdrawn_at = now()
  WHERE customer_id = old.customer_id AND recipient = old.email AND withdrawn_at IS NULL;
  RETURN NULL;
END $$;

-- A trigger, because members are removed by administrators, by single sign-on and with their workspace, in a resource
-- that knows nothing of links.
CREATE TRIGGER withdraw_links_of_member AFTER DELETE ON workspace_members
  FOR EACH ROW
  EXECUTE FUNCTION withdraw_links_of_member();
