using System.Collections.Immutable;
using Corfu;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>
/// Several runtimes run random transactions against a log with holes and lost answers; then the log is replayed by a
/// plain model. Checked: every decision, every value read by a committed transaction, that every abort has a real
/// conflict, and that all views are equal. With each way to decide, and with both in one log.
/// </summary>
public class RandomHistoryTests
{
    private const int Runtimes = 3;
    private const int Callers = 3;
    private const int TransactionsEach = 12;
    private static readonly string[] Names = ["a", "b", "c"];

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 40)];

    /// <summary>Who hosts what: all replicas one group, or replicas that host one object and only write the other
    /// (R20).</summary>
    public enum Hosting
    {
        Group,
        Layered,

        /// <summary>As <see cref="Layered"/>, but what a replica does not host it hosts while it reads it.</summary>
        Remote,
    }

    /// <summary>Who decides the transactions of the replicas.</summary>
    public enum Decider
    {
        Playback,
        Sequencer,

        /// <summary>Each for some of the replicas.</summary>
        Both,
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_history_over_hosted_groups_agrees_with_a_plain_model_of_the_log(int seed) =>
        SeededContext.Run(seed, time => RunAsync(seed, Hosting.Group, Decider.Playback, time));

    [Theory]
    [MemberData(nameof(Seeds))]
    public void So_is_one_over_partitions_that_need_decision_records(int seed) =>
        SeededContext.Run(seed, time => RunAsync(seed, Hosting.Layered, Decider.Playback, time));

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_history_over_remote_objects_agrees_with_a_plain_model_of_the_log(int seed) =>
        SeededContext.Run(seed, time => RunAsync(seed, Hosting.Remote, Decider.Playback, time));

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_history_that_the_sequencer_decides_agrees_with_a_plain_model_of_the_log(int seed) =>
        SeededContext.Run(seed, time => RunAsync(seed, (Hosting)(seed % 3), Decider.Sequencer, time));

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_history_decided_in_both_ways_agrees_with_a_plain_model_of_the_log(int seed) =>
        SeededContext.Run(seed, time => RunAsync(seed, (Hosting)(seed % 3), Decider.Both, time));

    private static async Task RunAsync(int seed, Hosting hosting, Decider decider, VirtualTime time)
    {
        var faults = new Random(seed);
        await using var world = new World(new InMemoryLogOptions
        {
            NextAppendFault = () => faults.Next(10) switch
            {
                0 => AppendFault.LeaveHole,
                1 => AppendFault.WrittenButUnknown,
                2 => AppendFault.LostAndUnknown,
                _ => AppendFault.None,
            },
            Time = time,
            // Some transactions spill (R19).
            MaxPayload = SpillsIn(seed) ? 120 : EntryLimits.DefaultMaxPayload,
        }, time, realCursor: seed % 2 == 0)
        { Decider = null };
        var attempts = new List<Attempt>();
        var replicas = new List<Replica>();
        for (var i = 0; i < Runtimes; i++) replicas.Add(await OpenAsync(world, hosting, i, decider));
        await Task.WhenAll(replicas.SelectMany((replica, r) => Enumerable.Range(0, Callers).Select(
            c => CallAsync(replica, new Random(seed + (1000 * r) + c), attempts))));

        var model = await LogModel.ReplayAsync(world.Log);
        foreach (var attempt in attempts) Check(attempt, model);
        replicas.Add(await OpenAsync(world, hosting, 0, decider));
        replicas.Add(await OpenAsync(world, hosting, 1, decider));
        await CheckViewsAsync(replicas, model);
        Assert.Contains(attempts, attempt => attempt.Outcome is TxOutcome.Committed);
        if (decider == Decider.Playback) Assert.Equal(hosting != Hosting.Group, model.Decisions.Count > 0);
        Assert.Equal(decider != Decider.Playback, model.Decided.Count > 0);
        Assert.Equal(SpillsIn(seed), model.SpilledTransactions.Count > 0);
    }

    private static bool SpillsIn(int seed) => seed % 4 == 1;

    private static async Task<Replica> OpenAsync(World world, Hosting hosting, int index, Decider decider)
    {
        var asks = decider == Decider.Sequencer || (decider == Decider.Both && index > 0);
        var runtime = world.NewRuntime(new TangoOptions
        {
            PublishEvery = 3,
            RemoteStay = TimeSpan.Zero,
            Decisions = asks ? TransactionDecisions.Sequencer : TransactionDecisions.Playback,
        });
        var objects = new Accounts[2];
        if (hosting == Hosting.Group)
        {
            await runtime.OpenGroupAsync("group", g =>
            {
                objects[0] = g.Add<Accounts>("first");
                objects[1] = g.Add<Accounts>("second");
            });
            return new Replica(runtime, objects, [true, true]);
        }

        // Replica 0 hosts both, 1 the first only, 2 the second only.
        bool[] isHosted = [index != 2, index != 1];
        if (hosting == Hosting.Remote)
        {
            string[] names = ["first", "second"];
            for (var i = 0; i < 2; i++)
                objects[i] =
                    isHosted[i]
                        ? await runtime.OpenAsync<Accounts>(names[i], OpenMode.Create)
                        : await runtime.OpenRemoteAsync<Accounts>(names[i], OpenMode.Create);
            return new Replica(runtime, objects, [true, true]);
        }

        objects[0] =
            isHosted[0]
                ? await runtime.OpenAsync<Accounts>("first", OpenMode.Create)
                : await runtime.OpenWriteOnlyAsync<Accounts>("first", OpenMode.Create);
        objects[1] =
            isHosted[1]
                ? await runtime.OpenAsync<Accounts>("second", OpenMode.Create)
                : await runtime.OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        return new Replica(runtime, objects, isHosted);
    }

    private static async Task CallAsync(Replica replica, Random random, List<Attempt> attempts)
    {
        for (var i = 0; i < TransactionsEach; i++)
        {
            if (random.Next(4) == 0)
            {
                var index = random.Next(2);
                if (replica.IsHosted[index])
                    await replica.Objects[index].AddAsync(Names[random.Next(3)], random.Next(10));
                else await replica.Objects[index].SetAsync(Names[random.Next(3)], random.Next(10));
                continue;
            }

            var attempt = new Attempt();
            await using var transaction = replica.Runtime.BeginTx();
            try
            {
                for (var steps = random.Next(1, 5); steps > 0; steps--) await StepAsync(replica, random, attempt);
            }
            catch (TangoConflictException)
            {
                attempt.Outcome = Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
                attempts.Add(attempt);
                continue;
            }

            attempt.Outcome = await transaction.EndTxAsync();
            attempts.Add(attempt);
        }
    }

    private static async Task StepAsync(Replica replica, Random random, Attempt attempt)
    {
        var objects = replica.Objects;
        var index = random.Next(2);
        var name = Names[random.Next(3)];
        switch (replica.IsHosted[index] ? random.Next(20) : 8)
        {
            case < 8:
                attempt.Read(index, name, await objects[index].BalanceAsync(name));
                break;
            case < 14:
                await objects[index].SetAsync(name, random.Next(100));
                attempt.Written.Add((index, name));
                break;
            case < 16:
                attempt.Written.Add((index, name));
                await objects[index].AddAsync(name, 1);
                break;
            case < 18:
                try
                {
                    await objects[index].WithdrawAsync(name, 40);
                    attempt.Written.Add((index, name));
                }
                catch (TangoRejectedException)
                {
                }

                break;
            case < 19:
                attempt.Wholes.Add((index, await objects[index].SnapshotAsync(), attempt.Written.Count > 0));
                break;
            default:
                await objects[index].ClearAsync();
                foreach (var each in Names) attempt.Written.Add((index, each));
                break;
        }
    }

    private static void Check(Attempt attempt, LogModel model)
    {
        switch (attempt.Outcome)
        {
            case TxOutcome.Committed committed when attempt.Written.Count == 0:
                CheckReads(attempt, model.Before[committed.Version.Position.Offset]);
                break;
            case TxOutcome.Committed committed:
                Assert.True(model.Commits[committed.Version].Committed,
                    $"{committed.Version} was reported as committed");
                CheckReads(attempt, model.Commits[committed.Version].Before);
                break;
            case TxOutcome.Aborted aborted:
                var key = aborted.Key.IsNone ? null : Convert.ToHexString(aborted.Key.Bytes);
                Assert.True(model.HasWrite(aborted.ConflictingWrite, aborted.ObjectId.Value, key),
                    $"{aborted} has no conflicting write");
                break;
            default:
                Assert.Fail($"In doubt although every outcome can be resolved: {attempt.Outcome}");
                break;
        }
    }

    private static void CheckReads(Attempt attempt, Dictionary<(ulong Object, string Account), long> balances)
    {
        foreach (var (index, name, value) in attempt.Reads)
            Assert.Equal(balances.GetValueOrDefault((IdOf(index), name)), value);
        foreach (var (index, whole, _) in attempt.Wholes.Where(w => !w.HasOwnWrites))
            Assert.Equal(balances.Where(c => c.Key.Object == IdOf(index))
                .ToDictionary(c => c.Key.Account, c => c.Value), whole);
    }

    private static async Task CheckViewsAsync(List<Replica> replicas, LogModel model)
    {
        foreach (var replica in replicas)
        {
            for (var index = 0; index < 2; index++)
            {
                if (!replica.IsHosted[index]) continue;
                var view = await replica.Objects[index].SnapshotAsync();
                var expected = model.Balances.Where(c => c.Key.Object == IdOf(index))
                    .ToDictionary(c => c.Key.Account, c => c.Value);
                Assert.Equal(expected, view.ToDictionary());
            }
        }

    }

    private static ulong IdOf(int index) => ObjectId.FirstUser.Value + (ulong)index;

    private sealed record Replica(TangoRuntime Runtime, Accounts[] Objects, bool[] IsHosted);

    private sealed class Attempt
    {
        public List<(int Index, string Name, long Value)> Reads { get; } = [];

        public List<(int Index, ImmutableDictionary<string, long> Whole, bool HasOwnWrites)> Wholes { get; } = [];

        public HashSet<(int Index, string Name)> Written { get; } = [];

        public TxOutcome? Outcome { get; set; }

        /// <summary>Reads of own writes are checked elsewhere: the model knows only what was there before.</summary>
        public void Read(int index, string name, long value)
        {
            if (!Written.Contains((index, name))) Reads.Add((index, name, value));
        }
    }
}
