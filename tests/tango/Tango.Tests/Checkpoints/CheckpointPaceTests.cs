using Corfu;
using Tango.Checkpoints;
using Tango.Model;
using static Tango.Tests.Checkpoints.CheckpointWorld;

namespace Tango.Tests.Checkpoints;

/// <summary>Cost of checkpoints: large objects have fewer, and one of an object's hosts makes them.</summary>
public class CheckpointPaceTests
{
    private const int LargeKeys = 100;

    private static readonly TangoOptions s_often = new() { Checkpoints = new CheckpointPolicy { Updates = 10 } };

    /// <summary>A checkpoint was written anew after every few updates, however large it was.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void One_of_a_large_object_waits_for_half_as_many_bytes_of_updates(bool opensAnew) =>
        SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, accounts) = await OpenAsync(world);
        for (var i = 0; i < LargeKeys; i++) await accounts.SetAsync(LargeKey(i), i);
        await runtime.Checkpoints.WriteAsync(accounts);
        var large = (await world.LoadAsync(Member(256)))!;
        Assert.True(large.Size > 10_000, $"{large.Size} bytes");
        if (opensAnew)
        {
            await runtime.DisposeAsync();
            (_, accounts) = await OpenAsync(world);
        }

        var first = await UpdateUntilAfterAsync(large.End);
        var second = await UpdateUntilAfterAsync(first.End);
        // An update takes 18 bytes, and 32 beside.
        Assert.InRange(second.End.Offset - first.End.Offset, large.Size / 2 / 60, large.Size / 2 / 40);

        async Task<CohortSnapshot> UpdateUntilAfterAsync(LogPosition end)
        {
            for (var i = 0; i < large.Size; i += 1000)
            {
                await UpdateAsync(accounts, 20, time);
                if (await world.LoadAsync(Member(256)) is { } found && found.End > end) return found;
            }

            throw new InvalidOperationException($"No checkpoint after {end}");
        }
    });

    /// <summary>The directory held the log for as many positions as one of small entries would have had: with entries
    /// of many updates, gigabytes.</summary>
    [Fact]
    public void The_directory_is_checkpointed_after_bytes_too() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var policy = new CheckpointPolicy { Updates = 1000, Bytes = 50_000 };
        await using var runtime = new TangoRuntime(world.Log, world.Log.OpenCursor, time, new SeededEntropy(1),
            new TangoOptions { Checkpoints = policy }, loops: SeededContext.Loops);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var large = new string('k', 5000);
        for (var i = 0; i < 300; i++)
        {
            await accounts.SetAsync(large, i);
            if (i % 10 == 0) await Task.Delay(TimeSpan.FromSeconds(1), time);
        }

        Assert.NotEmpty(await world.CheckpointEntriesAsync(ObjectId.Directory.Value));
    });

    [Fact]
    public void One_of_several_hosts_makes_each_checkpoint() => SeededContext.Run(2, async time =>
    {
        const int Updates = 1024;
        const int Rounds = 5;
        await using var world = new World(time: time);
        var options = new TangoOptions { Checkpoints = new CheckpointPolicy { Updates = Updates } };
        var hosts = new List<Accounts>();
        // The shares of these two identities lie far apart.
        foreach (var i in new[] { 1, 3 })
        {
            var runtime = new TangoRuntime(world.Log, world.Log.OpenCursor, time, new SeededEntropy(i), options,
                loops: SeededContext.Loops);
            hosts.Add(await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create));
        }

        for (var i = 0; i < Updates * Rounds; i++)
        {
            await hosts[0].SetAsync("a", i);
            if (i % 64 > 0) continue;
            foreach (var host in hosts) await host.BalanceAsync("a");
            await Task.Delay(TimeSpan.FromSeconds(1), time);
        }

        var finals = (await world.CheckpointEntriesAsync(256))
            .Count(static entry => CheckpointFormat.TryDecodeFinal(entry.Payload) is not null);
        Assert.InRange(finals, Rounds - 2, Rounds);
    });

    [Fact]
    public void Hosts_have_different_shares_of_a_quarter()
    {
        var policy = new CheckpointPolicy();
        var spread = Enumerable.Range(0, 1000)
            .Select(i => policy.SpreadFor((ulong)i * 7919, new ObjectId(256)).Updates).ToList();
        Assert.InRange(spread.Min(), policy.Updates, policy.Updates * 26 / 25);
        Assert.InRange(spread.Max(), policy.Updates * 6 / 5, policy.Updates * 5 / 4);
        Assert.True(spread.Distinct().Count() > 200);
        Assert.Equal(policy.SpreadFor(3, new ObjectId(256)), policy.SpreadFor(3, new ObjectId(256)));
    }

    private static string LargeKey(int i) => new string('k', 100) + i;

    private static async Task<(TangoRuntime Runtime, Accounts Accounts)> OpenAsync(World world)
    {
        var runtime = world.NewRuntime(s_often);
        return (runtime, await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create));
    }

    private static async Task UpdateAsync(Accounts accounts, int updates, TimeProvider time)
    {
        for (; updates > 0; updates--) await accounts.SetAsync("a", updates);
        await accounts.BalanceAsync("a");
        await Task.Delay(TimeSpan.FromSeconds(1), time);
    }
}
