using System.Globalization;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload;

/// <summary>Transactions of one client, with everything they read, wrote and were told written down.</summary>
public sealed partial class TangoWorkload(World world, SeedPlan plan, LogHistory log, TxHistory history,
    ClusterMonitor monitor, Ledger ledger)
{
    public const int Accounts = 4;
    public const int OpeningBalance = 100;

    // Threshold of the dice that choose an operation: from here on nothing is written.
    private const double FirstReadOnly = 0.72;

    private const double ShareOfTrims = 0.04;

    // Transactions that write all they can, where that is more than an entry holds.
    private const double ShareOfLarge = 0.3;

    // Last digit of a lone register's value, where older code cannot read the update that wrote it.
    private const int NewerMark = 1;
    private const double ShareOfNewer = 0.04;

    private readonly TxRecorder _recorder = new(world, history, monitor, ledger);

    private static readonly string[] s_keys = ["cells/k0", "cells/k1", "cells/k2", "cells/k3", "cells/k4", "r0", "r1"];
    private static readonly string[] s_accounts = [.. Enumerable.Range(0, Accounts).Select(i => $"bank/a{i}")];

    public async Task WorkAsync(
        int client, ClientProfile profile, TangoClient tango, TimeProvider time, SimRandom random)
    {
        while (!ledger.Exhausted && !tango.HasLostGroup)
        {
            if (profile.Think > 0) await Task.Delay(TimeSpan.FromTicks(random.Exponential(profile.Think) + 1), time);
            if (plan.TrimsObjects && random.Chance(ShareOfTrims)) await TrimOrHoldAsync(client, tango, random);
            if (_asleep == client) await NapAsync(client, tango);
            double dice = profile.ReadsOnly
                ? FirstReadOnly + (random.NextDouble() * (1 - FirstReadOnly))
                : random.NextDouble();
            bool isNewer = plan.TwoVersions && !plan.IsOld(client) && random.Chance(ShareOfNewer);
            bool isTemporary = plan.Deletes && !plan.IsOld(client) && random.Chance(ShareOfTemporary);
            bool isPast = plan.Feeds && !plan.IsOld(client) && random.Chance(ShareOfPast);
            bool isIndexed = plan.Indexes && !plan.IsOld(client) && random.Chance(ShareOfIndexed);
            bool isRemoval = plan.Removes && tango.AnnexKey is not null && random.Chance(ShareOfRemovals);
            bool isGrowth = tango.AnnexKey is null && BecomesNewer(client) && random.Chance(ShareOfGrowth);
            Task step = dice switch
            {
                _ when isRemoval => RemoveAnnexAsync(client, tango),
                _ when isGrowth => OpenAnnexAsync(client, tango, random),
                _ when isIndexed => UseIndexAsync(client, tango, random),
                _ when isTemporary => UseTemporaryAsync(client, tango, random),
                _ when isPast && plan.Forks && random.Chance(ShareOfForks) => ForkOrDeleteAsync(client, tango, random),
                _ when isPast => ReadPastAsync(client, tango, random),
                _ when isNewer => UpdateAsync(client, tango, random.Pick(TangoClient.SoloKeys), NewerMark),
                < 0.40 => TransactionAsync(client, tango, random),
                < 0.55 => TransferAsync(client, tango, random),
                < 0.62 => UpdateAsync(client, tango, random.Pick(Writable(tango)), 0),
                < 0.65 => PassAsync(client, tango),
                < FirstReadOnly => ExchangeAsync(client, tango, random),
                < 0.82 => ReadOnlyAsync(client, tango, PickKeys(Readable(tango), random, random.Between(2, 4)), random),
                < 0.88 => ReadOnlyAsync(client, tango, s_accounts, random),
                < 0.95 => ReadAsync(client, tango, random.Pick(Readable(tango))),
                < 0.96 => ReadAsync(client, tango, TangoClient.GateKey),
                _ => SampleAsync(client, tango),
            };
            try
            {
                await step;
                ledger.Done();
            }
            catch (Exception e) when (IsLogsRefusal(e))
            {
                monitor.Mark("operation given up");
            }
            catch (TangoObjectDeletedException e) when (plan.Removes)
            {
                LoseAnnex(tango, e);
            }
            catch (TangoConflictException)
            {
                monitor.Mark("read fits no snapshot");
            }
            catch (TangoTrimmedException) when (plan.TrimsObjects)
            {
                // R22: the runtime fell behind; the next call loads checkpoints.
                monitor.Mark("client fell behind a trim");
            }
            catch (TangoObjectStoppedException e) when (Stumbles.Explains(e))
            {
                monitor.Mark("object stopped by its code");
            }
            catch (TangoObjectStoppedException e) when (plan.IsOld(client))
            {
                Drop(tango, e);
            }
            catch (TangoDivergenceException e)
            {
                monitor.Found(CheckerNames.Decisions, $"client {client}: {e.Message}");
                return;
            }
        }
    }

    /// <summary>Brings the views to the tail and notes what they show: all clients that do this when nothing moves must
    /// agree. A client of older code shows what has not stopped.</summary>
    public async Task FinalReadAsync(int client, TangoClient tango)
    {
        while (!tango.HasLostGroup)
        {
            try
            {
                await ReadAllAsync(client, tango);
                return;
            }
            catch (TangoObjectDeletedException e) when (plan.Removes)
            {
                LoseAnnex(tango, e);
            }
            catch (TangoTrimmedException) when (plan.TrimsObjects)
            {
                monitor.Mark("client fell behind a trim");
            }
            catch (TangoObjectStoppedException e) when (Stumbles.Explains(e))
            {
                monitor.Mark("object stopped by its code");
            }
            catch (TangoObjectStoppedException e) when (plan.IsOld(client))
            {
                Drop(tango, e);
            }
            catch (TangoDivergenceException e)
            {
                monitor.Found(CheckerNames.Decisions, $"client {client}: {e.Message}");
                return;
            }
        }
    }

    /// <summary>Whether older code cannot read this update.</summary>
    public static bool IsNewer(ReadOnlyMemory<byte> update) => update.Span.EndsWith(":1"u8);

    private void Drop(TangoClient tango, TangoObjectStoppedException stopped)
    {
        monitor.Mark("object stopped in older code");
        tango.Drop(stopped.ObjectName);
        if (tango.HasLostGroup) monitor.Mark("group stopped in older code");
    }

    private async Task ReadAllAsync(int client, TangoClient tango)
    {
        await tango.Runtime.SyncAsync();
        await OpenExistingAnnexAsync(client, tango);
        foreach (string key in Readable(tango).Concat(s_accounts).Append(TangoClient.GateKey))
            await ReadAsync(client, tango, key);
        await ReadOnlyAsync(client, tango, s_accounts, null);
        await SampleAsync(client, tango);
        if (plan.Indexes && !plan.IsOld(client)) await ReadIndexAsync(client, tango);
    }

    private async Task TransactionAsync(int client, TangoClient tango, SimRandom random)
    {
        string[] reads = PickKeys(Readable(tango), random, random.Between(0, 3));
        string[] writes = PickKeys(Writable(tango), random,
            plan.Spills && random.Chance(ShareOfLarge) ? Writable(tango).Length : random.Between(1, 2));
        var op = new TxAttempt(_recorder, client);
        await using TangoTransaction tx = tango.Runtime.BeginTx();
        foreach (string key in reads) op.Read(key, await ReadPatientlyAsync(tango, key, random));
        if (random.Chance(0.3))
        {
            // R16: what it returns is read, though nobody asked for a read.
            int register = random.Next(tango.Registers.Length);
            op.Read($"r{register}", await tango.Registers[register].ExchangeAsync(op.Write($"r{register}", 0)));
        }

        // R23: first, so that what is refused has writes behind it that are not.
        if (random.Chance(0.3)) await PassWithinAsync(tango, op);
        foreach (string key in writes) await tango.WriteAsync(key, op.Write(key, 0));
        op.Started(tx);
        try
        {
            await DecideAsync(op, tango, await tx.EndTxAsync());
        }
        catch (TangoSpillException)
        {
            monitor.Mark("spilling failed");
            op.Decided(TxDecision.Unknown);
        }
        catch (Exception e) when (IsLogsRefusal(e))
        {
            op.Decided(TxDecision.NotWritten);
        }
    }

    /// <summary>Records the outcome. An outcome that is found later for a transaction in doubt must be true as
    /// well.</summary>
    private async Task DecideAsync(TxAttempt op, TangoClient tango, TxOutcome outcome)
    {
        if (outcome is not TxOutcome.InDoubt inDoubt)
        {
            op.Decided(outcome);
            return;
        }

        try
        {
            op.Resolved(await tango.Runtime.ResolveAsync(inDoubt));
        }
        catch (Exception e) when (e is TangoTrimmedException || IsLogsRefusal(e))
        {
            op.Decided(outcome);
        }
    }

    /// <summary>A call that the snapshot refuses is told so at once, and is no part of the transaction.</summary>
    private async Task PassWithinAsync(TangoClient tango, TxAttempt op)
    {
        long ticket = ledger.NextPayload();
        Stumbles.Spare(ticket);
        op.Ask(TangoClient.GateKey);
        try
        {
            await tango.Gate.PassAsync(ticket, TxAttempt.ValueOf(ticket, 0));
            op.Write(TangoClient.GateKey, ticket, 0);
        }
        catch (TangoRejectedException)
        {
            monitor.Mark("call refused in a transaction");
        }
    }

    private async Task PassAsync(int client, TangoClient tango)
    {
        var op = new TxAttempt(_recorder, client);
        string ticket = op.Write(TangoClient.GateKey, 0);
        Stumbles.Spare(NumberOf(ticket));
        op.Started();
        try
        {
            await tango.Gate.PassAsync(NumberOf(ticket), ticket);
            op.Decided(TxDecision.Committed);
        }
        catch (TangoRejectedException)
        {
            monitor.Mark("update refused");
            op.Decided(TxDecision.Committed, refused: 1);
        }
        catch (TangoInDoubtException)
        {
            op.Decided(TxDecision.Unknown);
        }
        catch (Exception e) when (IsLogsRefusal(e))
        {
            op.Decided(TxDecision.NotWritten);
        }
    }

    /// <summary>Moves money with the retry helper: each attempt is a transaction of its own, and only the last one may
    /// commit.</summary>
    private async Task TransferAsync(int client, TangoClient tango, SimRandom random)
    {
        string[] pair = PickKeys(s_accounts, random, 2);
        int amount = random.Between(1, 20);
        TxAttempt? last = null;
        TxOutcome outcome = await tango.Runtime.RunTransactionAsync(async tx =>
        {
            last?.Abandoned();
            TxAttempt op = last = new TxAttempt(_recorder, client);
            string? from = await tango.ReadAsync(pair[0]);
            string? to = await tango.ReadAsync(pair[1]);
            op.Read(pair[0], from);
            op.Read(pair[1], to);
            await tango.WriteAsync(pair[0], op.Write(pair[0], BalanceOf(from) - amount));
            await tango.WriteAsync(pair[1], op.Write(pair[1], BalanceOf(to) + amount));
            op.Started(tx);
        });
        await DecideAsync(last!, tango, outcome);
    }

    private async Task UpdateAsync(int client, TangoClient tango, string key, int mark)
    {
        var op = new TxAttempt(_recorder, client);
        string value = op.Write(key, mark);
        op.Started();
        try
        {
            await tango.WriteAsync(key, value);
            op.Decided(TxDecision.Committed);
        }
        catch (TangoInDoubtException)
        {
            op.Decided(TxDecision.Unknown);
        }
        catch (Exception e) when (IsLogsRefusal(e))
        {
            op.Decided(TxDecision.NotWritten);
        }
    }

    private async Task ExchangeAsync(int client, TangoClient tango, SimRandom random)
    {
        int register = random.Next(tango.Registers.Length);
        var op = new TxAttempt(_recorder, client);
        string value = op.Write($"r{register}", 0);
        op.Started();
        try
        {
            op.Read($"r{register}", await tango.Registers[register].ExchangeAsync(value));
            op.Decided(TxDecision.Committed);
        }
        catch (TangoInDoubtException)
        {
            op.Decided(TxDecision.Unknown);
        }
        catch (Exception e) when (IsLogsRefusal(e))
        {
            op.Decided(TxDecision.NotWritten);
        }
    }

    private async Task ReadOnlyAsync(int client, TangoClient tango, IReadOnlyList<string> keys, SimRandom? random)
    {
        var op = new TxAttempt(_recorder, client);
        await using TangoTransaction tx = tango.Runtime.BeginTx();
        int sum = 0;
        foreach (string key in keys)
        {
            string? value = await ReadPatientlyAsync(tango, key, random);
            op.Read(key, value);
            sum += BalanceOf(value);
        }

        op.Started(tx);
        TxOutcome outcome = await tx.EndTxAsync();
        op.Decided(outcome);
        // R17: even a transaction that aborts never sees a state that did not exist.
        if (ReferenceEquals(keys, s_accounts) && sum != Accounts * OpeningBalance)
            monitor.Found(CheckerNames.Opacity, $"client {client} saw {sum} in the bank ({outcome})");
    }

    // Other transactions get between two reads: they must not show (R17).
    private static async Task<string?> ReadPatientlyAsync(TangoClient tango, string key, SimRandom? random)
    {
        if (random?.Chance(0.3) ?? false) await Task.Yield();
        if (random?.Chance(0.1) ?? false) await Task.Delay(TimeSpan.FromMilliseconds(random.Between(1, 5)), tango.Time);
        return await tango.ReadAsync(key);
    }

    private Task ReadAsync(int client, TangoClient tango, string key) => tango.FindAnnex(key) is { } annex
        ? ReadDeletableAsync(client, tango, annex, () => annex.ReadAsync())
        : ReadAsync(client, key, () => tango.ReadAsync(key));

    private async Task ReadAsync(int client, string key, Func<ValueTask<string?>> read)
    {
        var op = new TxAttempt(_recorder, client);
        op.Started();
        op.Read(key, await read());
        op.Decided(TxDecision.Committed);
    }

    private async Task SampleAsync(int client, TangoClient tango)
    {
        string? annex = tango.AnnexKey;
        await using TangoTransaction tx = tango.Runtime.BeginTx();
        string cells = Show(await tango.CellsObject.SnapshotAsync());
        string bank = Show(await tango.BankObject.SnapshotAsync());
        string? r0 = await tango.Registers[0].ReadAsync();
        long at = tx.SnapshotEnd!.Value.Offset;
        history.Views.Add(new ViewSample(client, at, TangoClient.Cells, cells));
        history.Views.Add(new ViewSample(client, at, TangoClient.Bank, bank));
        history.Views.Add(new ViewSample(client, at, "r0", r0 ?? "-"));
        history.Views.Add(new ViewSample(client, at, TangoClient.GateKey, await tango.Gate.LastAsync() ?? "-"));
        if (annex is not null)
            history.Views.Add(new ViewSample(client, at, annex, await tango.ReadAsync(annex) ?? "-"));
        foreach (string solo in tango.Readable)
            history.Views.Add(new ViewSample(client, at, solo, await tango.ReadAsync(solo) ?? "-"));
        await SampleCohortsAsync(client, tango);
    }

    private static string[] Readable(TangoClient tango) => [.. Shared(tango), .. tango.Readable, .. tango.Remote];

    private static string[] Writable(TangoClient tango) => [.. Shared(tango), .. tango.Writable];

    private static string[] Shared(TangoClient tango) =>
        tango.AnnexKey is { } annex ? [.. s_keys, annex] : s_keys;

    private static string Show(IEnumerable<KeyValuePair<string, string>> view)
        => string.Join(" ", view.OrderBy(p => p.Key, StringComparer.Ordinal).Select(p => $"{p.Key}={p.Value}"));

    private static string[] PickKeys(string[] keys, SimRandom random, int count)
    {
        string[] shuffled = [.. keys];
        random.Shuffle(shuffled);
        return shuffled[..count];
    }

    internal static long NumberOf(string? value) =>
        value is null ? 0 : long.Parse(value.AsSpan(1, 7), CultureInfo.InvariantCulture);

    private static int BalanceOf(string? value) =>
        value is null ? OpeningBalance : int.Parse(value.AsSpan(9), CultureInfo.InvariantCulture);
}
