using System.Text;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.StateMachines;

// A machine of one's own in two replicas, and a client that goes on at the other one.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
await using var second = await Replica<Votes>.OpenAsync(log, "votes", () => new Votes());

long client;
await using (var first = await Replica<Votes>.OpenAsync(log, "votes", () => new Votes()))
{
    var session = await first.OpenSessionAsync();
    client = session.Id;
    Show("first", await session.ProposeAsync(0, "tea"u8.ToArray(), answeredBelow: 0));
} // The first replica ends, and the client sends its command again, elsewhere.

Show("second", await second.Attach(client).ProposeAsync(0, "tea"u8.ToArray(), answeredBelow: 0));
Show("second", await second.Attach(client).ProposeAsync(1, "tea"u8.ToArray(), answeredBelow: 1));

await second.SnapshotAsync();
await using var third = await Replica<Votes>.OpenAsync(log, "votes", () => new Votes());
Console.WriteLine($"third: {await third.QueryAsync(votes => votes.Of("tea"))} for tea");

static void Show(string replica, CommandOutcome outcome) =>
    Console.WriteLine($"{replica}: {outcome.Status}, {Encoding.UTF8.GetString(outcome.Require().Span)}");

// The same commands give the same votes in every process: no clock, no random number.
internal sealed class Votes : IStateMachine
{
    private readonly SortedDictionary<string, int> _votes = [];

    public int Of(string candidate) => _votes.GetValueOrDefault(candidate);

    public ReadOnlyMemory<byte> Apply(ReadOnlyMemory<byte> command, in CommandContext context)
    {
        var candidate = Encoding.UTF8.GetString(command.Span);
        _votes[candidate] = Of(candidate) + 1;
        return Encoding.UTF8.GetBytes($"{_votes[candidate]} for {candidate}");
    }

    public IMachineSnapshot Capture() => new Saved([.. _votes.Select(pair => $"{pair.Value} {pair.Key}")]);

    public async ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default)
    {
        using var reader = new StreamReader(snapshot);
        while (await reader.ReadLineAsync(cancellationToken) is { } line)
            _votes[line[(line.IndexOf(' ') + 1)..]] = int.Parse(line[..line.IndexOf(' ')]);
    }

    private sealed record Saved(string[] Lines) : IMachineSnapshot
    {
        public async ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default) =>
            await destination.WriteAsync(Encoding.UTF8.GetBytes(string.Join('\n', Lines)), cancellationToken);

        public void Dispose() { }
    }
}
