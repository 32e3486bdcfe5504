using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Destination of the attempts of all clients.</summary>
/// <param name="Asks">Whether a client asks the sequencer to decide.</param>
internal sealed record TxRecorder(
    World World, TxHistory History, ClusterMonitor Monitor, Ledger Ledger, Func<int, bool> Asks);

/// <summary>A transaction on its way into the history; in it from the moment it may take effect.</summary>
internal sealed class TxAttempt(TxRecorder to, int client)
{
    private readonly List<KeyValuePair<string, long>> _reads = [];
    private readonly List<KeyValuePair<string, long>> _writes = [];
    private readonly List<string> _asked = [];
    private readonly long _start = to.World.Steps;
    private int _slot = -1;

    /// <summary>A transaction that the sequencer may decide is told how many writes were refused.</summary>
    public bool AwaitsApplied { get; init; }

    public void Read(string key, string? value) => _reads.Add(KeyValuePair.Create(key, WrittenValue.NumberOf(value)));

    /// <summary>R16: a call that may be refused reads a key of the object, also where it is refused.</summary>
    public void Ask(string name) => _asked.Add(name);

    public string Write(string key, int balance) => Write(key, to.Ledger.NextPayload(), balance);

    public string Write(string key, long id, int balance)
    {
        _writes.Add(KeyValuePair.Create(key, id));
        return WrittenValue.Of(id, balance);
    }

    /// <summary>Makes a call that is no part of a transaction, and records its outcome.</summary>
    public Task CallAsync(Func<ValueTask> call) => CallAsync(async () =>
    {
        await call();
        return 0;
    });

    /// <param name="call">Returns how many of its writes were refused.</param>
    public async Task CallAsync(Func<Task<int>> call)
    {
        Started();
        try
        {
            Decided(TxDecision.Committed, await call());
        }
        catch (TangoInDoubtException)
        {
            Decided(TxDecision.Unknown);
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            Decided(TxDecision.NotWritten);
        }
    }

    /// <param name="tx">Null: a call of its own. What the transaction reads it has read.</param>
    public void Started(TangoTransaction? tx = null)
    {
        _slot = to.History.Transactions.Count;
        to.History.Transactions.Add(new TxOp(client, _start, LogHistory.Never, TxDecision.Unknown, _reads, _writes)
        {
            SnapshotEnd = tx?.SnapshotEnd?.Offset,
            Asked = _asked,
        });
    }

    /// <summary>The retry helper runs the body again: this attempt had aborted.</summary>
    public void Abandoned()
    {
        if (_slot >= 0) Decided(TxDecision.Aborted);
    }

    public void Decided(TxOutcome outcome)
    {
        switch (outcome)
        {
            case TxOutcome.Committed committed:
                if (committed.RejectedWrites > 0) to.Monitor.Mark("write refused in a transaction");
                bool isTold = AwaitsApplied || !to.Asks(client);
                Decided(TxDecision.Committed, isTold ? committed.RejectedWrites : null);
                break;
            case TxOutcome.Aborted { Reason: AbortReason.NotWritten }:
                Decided(TxDecision.NotWritten);
                break;
            case TxOutcome.Aborted aborted:
                if (aborted.Reason == AbortReason.SnapshotTooOld) to.Monitor.Mark("snapshot was too old");
                if (aborted.Reason == AbortReason.Conflict)
                {
                    TxOp op = to.History.Transactions[_slot];
                    to.History.Transactions[_slot] = op with { LostTo = aborted.ConflictingWrite.Position.Offset };
                }

                Decided(TxDecision.Aborted);
                break;
            default:
                Decided(TxDecision.Unknown);
                break;
        }
    }

    /// <summary>Records the outcome. An outcome that is found later for a transaction in doubt must be true as
    /// well.</summary>
    public async Task DecidedAsync(TangoRuntime runtime, TxOutcome outcome)
    {
        if (outcome is not TxOutcome.InDoubt inDoubt)
        {
            Decided(outcome);
            return;
        }

        try
        {
            Resolved(await runtime.ResolveAsync(inDoubt));
        }
        catch (Exception e) when (e is TangoTrimmedException || LogRefusal.Is(e))
        {
            Decided(outcome);
        }
    }

    private void Resolved(TxOutcome outcome)
    {
        to.Monitor.Mark($"in doubt, resolved {outcome.GetType().Name}");
        if (outcome is TxOutcome.Committed) Decided(TxDecision.Committed, refused: null);
        else Decided(outcome);
    }

    /// <param name="refused">How many of its writes it was told to have been refused (R23); null: it was not
    /// told.</param>
    public void Decided(TxDecision decision, int? refused = 0)
    {
        to.Monitor.Mark($"transaction {decision}");
        TxOp op = to.History.Transactions[_slot];
        to.History.Transactions[_slot] = op with
        {
            // In doubt has no end: it may still take effect later.
            End = decision == TxDecision.Unknown ? LogHistory.Never : to.World.Steps,
            Decision = decision,
            Refused = refused,
        };
    }
}
