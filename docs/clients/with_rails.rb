# cftrag from Rails. An attached table has triggers, which db/schema.rb does not hold:
#
#   config.active_record.schema_format = :sql    # config/application.rb: db/structure.sql, which pg_dump writes
#
# "vector" is enabled before "cftrag", which requires it. An embedding goes in as text, embedding.to_json, cast to vector.
require 'active_record'

class AttachCategories < ActiveRecord::Migration[6.1]
  def up
    enable_extension 'vector'
    enable_extension 'cftrag'
    execute "SELECT cft_attach('categories', parent => 'parent_id', child => 'id', label => 'name')"
  end

  def down
    execute "SELECT cft_detach('categories')"
    disable_extension 'cftrag'
    disable_extension 'vector'
  end
end

class Category < ActiveRecord::Base
  # Categories that are this one or below it, as a scope that composes: Category.under(2).where(...).order(:name)
  scope :under, ->(id) { where('cft_under(categories.id, ?)', id) }

  # Of a list of ids: rows with entity, relation, depth, relative and label.
  def self.relatives(ids)
    connection.select_all(sanitize_sql(['SELECT * FROM cft_context(ids => ARRAY[?]::bigint[])', ids])).to_a
  end
end
