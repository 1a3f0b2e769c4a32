# docs/clients/with_rails.rb: the migration up, a structure.sql that another database takes with its triggers, and down.
require 'tmpdir'
require_relative '../../docs/clients/with_rails'

def check(what, actual, wanted)
  actual == wanted or abort "#{what}: #{actual.inspect}, not #{wanted.inspect}"
end

def database(name)
  { adapter: 'postgresql', host: ENV['PGHOST'], port: ENV['PGPORT'], username: ENV['PGUSER'], database: name }
end

def connect(name)
  ActiveRecord::Base.establish_connection(database(name))
  ActiveRecord::Base.connection
end

names = %w[cftrag_rails cftrag_rails_again]
admin = connect('postgres')
names.each { |name| admin.drop_database(name); admin.create_database(name) }
begin
  ActiveRecord::Migration.verbose = false
  db = connect(names[0])
  db.execute('SET client_min_messages = warning')
  db.execute("CREATE TABLE categories (id int PRIMARY KEY, parent_id int REFERENCES categories, name text);
              INSERT INTO categories VALUES (1, NULL, 'Sports'), (2, 1, 'Shoes'), (3, 2, 'Trail shoes'), (4, NULL, 'Tents')")
  AttachCategories.migrate(:up)
  check 'under', Category.under(2).where("name <> 'x'").order(:name).pluck(:name), ['Shoes', 'Trail shoes']
  check 'relatives', Category.relatives([3, 4]).map { |row| row.values_at('entity', 'label') }, [%w[3 Shoes], %w[3 Sports]]
  file = File.join(Dir.mktmpdir, 'structure.sql')
  ENV['PATH'] = "#{ENV['CFTRAG_BIN']}:#{ENV['PATH']}" if ENV['CFTRAG_BIN']
  # As db:schema:dump and db:schema:load do.
  system({ 'PGDATABASE' => names[0] }, 'pg_dump', '--schema-only', '--no-privileges', '--no-owner', '--file', file) or abort 'pg_dump'
  system({ 'PGDATABASE' => names[1] }, 'psql', '-q', '-X', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', file) or abort 'psql'
  db = connect(names[1])
  db.execute("INSERT INTO categories VALUES (1, NULL, 'Sports'), (2, 1, 'Shoes')")
  check 'loaded', Category.relatives([2]).map { |row| row['label'] }, ['Sports']
  connect(names[0])
  AttachCategories.migrate(:down)
  check 'down', Category.connection.select_value("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'cftrag%'"), 0
ensure
  admin = connect('postgres')
  names.each { |name| admin.drop_database(name) }
end
