using Corfu.StateMachines.Records;
using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Paper;

/// <summary>CORFU-SMR: TOCS'13 3 and 6.4.</summary>
public sealed class PaperTests
{
    /// <summary>"An SMR state can be soft, and may always be recovered by playing the log" (3).</summary>
    [Fact]
    public async Task Tocs3_a_replica_is_rebuilt_from_the_log()
    {
        await using var world = new World();
        var first = await world.OpenAsync();
        for (var i = 0; i < 100; i++) await world.AddAsync(first, "k" + (i % 7));
        var state = await world.ShowAsync(first);
        await world.Do(first.DisposeAsync().AsTask());

        Assert.Equal(state, await world.ShowAsync(await world.OpenAsync()));
    }

    /// <summary>"Replicas propose commands by appending to the log and execute commands by playing the log"
    /// (1).</summary>
    [Fact]
    public async Task Tocs3_replicas_execute_commands_of_all_in_one_order()
    {
        await using var world = new World();
        var replicas = new[] { await world.OpenAsync(), await world.OpenAsync(), await world.OpenAsync() };
        var commands = Enumerable.Range(0, 90)
            .Select(i => replicas[i % 3].ProposeAsync(SumMachine.Bytes("a")).AsTask()).ToArray();
        var outcomes = await world.Do(Task.WhenAll(commands));

        // Each command saw another total: there is one order.
        Assert.Equal(
            Enumerable.Range(1, 90), outcomes.Select(o => int.Parse(SumMachine.Text(o.Require()))).Order());
        foreach (var replica in replicas) Assert.Equal("a=90\n", await world.ShowAsync(replica));
    }

    /// <summary>"Each command consists of a 512-byte payload and 64 bytes of metadata; seven commands can fit into a
    /// single CORFU log entry with batching" (6.4).</summary>
    [Fact]
    public async Task Tocs64_seven_commands_of_512_bytes_fit_into_an_entry_of_4_KiB()
    {
        await using var world = new World();
        world.Options = world.Options with { MaxAppends = 1, MaxBatchCommands = 7 };
        var gate = new GatedLog(world.Log);
        var replica = await world.OpenAsync(log: gate);
        var session = await world.Do(replica.OpenSessionAsync().AsTask());
        gate.HoldAppends();
        var before = (await world.EntriesAsync(World.Commands)).Count;
        var body = new byte[512];
        Array.Fill(body, (byte)'x');
        var commands = Enumerable.Range(1_000_000, 8)
            .Select(number => session.ProposeAsync(number, body, 999_990).AsTask()).ToArray();
        gate.LetAppendsGo();
        await world.Do(Task.WhenAll(commands));

        // The first one was sent alone, the other seven waited for it.
        var entries = (await world.EntriesAsync(World.Commands))[before..];
        var records = entries.Select(entry => (CommandsRecord)RecordCodec.Read(entry.Payload)).ToArray();
        Assert.Equal([1, 7], records.Select(record => record.Commands.Length));
        var bytes = entries[1].Payload.Length - (7 * 512);
        Assert.True(entries[1].Payload.Length <= 4096, $"{entries[1].Payload.Length} bytes");
        Assert.True(bytes <= 7 * 30, $"{bytes} bytes beside the commands");
    }
}
