using Corfu.StateMachines.Records;
using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Proposals;

/// <summary>Brings the commands of concurrent callers into the log in shared entries, and their outcomes from playback
/// back to them. Safe for concurrent use.</summary>
internal sealed class ProposalQueue(
    ICorfuLog log, StreamId stream, Guid replica, ReplicaOptions options, Func<PlayedMark> played, Action wake)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _stopping = new();

    // Guarded by _gate, as all below.
    private readonly LinkedList<CommandCall> _waiting = [];

    // Invariant: a proposal is here from before its append until its fate is known, or the replica stops. Playback is
    // the only source of a result (M8).
    private readonly Dictionary<long, Proposal> _sent = [];
    private int _appends;
    private long _sequence;
    private Exception? _stopped;

    // Entries below were not played here since this replica went on from a snapshot.
    private LogPosition _passedOver;

    private int MaxCommand =>
        log.MaxPayload - RecordCodec.RecordOverhead - RecordCodec.CommandOverhead;

    /// <summary>Sends a command.</summary>
    /// <returns>The outcome; cancelled after the command was sent, it is in doubt.</returns>
    public async Task<CommandOutcome> ProposeAsync(Command command, CancellationToken cancellationToken)
    {
        if (command.Body.Length > MaxCommand)
            throw new EntryTooLargeException($"A command of {command.Body.Length} bytes, limit {MaxCommand}");
        cancellationToken.ThrowIfCancellationRequested();
        var call = new CommandCall(this, command);
        lock (_gate)
        {
            ThrowIfStopped();
            if (_waiting.Count >= options.MaxWaiting) throw new ReplicaBusyException(_waiting.Count);
            _waiting.AddLast(call);
        }

        SendMore();
        await using var registration = cancellationToken.UnsafeRegister(
            (_, token) => Cancel(call, token), null);
        return await call.Answer;
    }

    /// <summary>Sends a record that is no command, in an entry of its own.</summary>
    public async Task<CommandOutcome> ProposeAsync(
        Func<ProposalKey, MachineRecord> record, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var call = new CommandCall(this, new Command(Command.NoSession, 0, 0, default));
        Proposal proposal;
        lock (_gate)
        {
            ThrowIfStopped();
            proposal = Enter([call], (key, _) => record(key));
            _appends++;
        }

        options.Loops.Start(() => SendAsync(proposal));
        await using var registration = cancellationToken.UnsafeRegister(
            (_, token) => Cancel(call, token), null);
        return await call.Answer;
    }

    /// <summary>Looks for the fate of a call in doubt.</summary>
    /// <returns>Null: the entry is in the log at the proposal's position, and playback decides.</returns>
    public async Task<CommandOutcome?> ResolveAsync(CommandCall call, CancellationToken cancellationToken)
    {
        AppendResult append;
        lock (_gate)
        {
            if (call.Decided is { } decided) return decided;
            ThrowIfStopped();
            if (call.Proposal?.Append is not { } known) return CommandOutcome.InDoubt(call);
            append = known;
        }

        var outcome = await log.ResolveAsync(append, cancellationToken);
        lock (_gate)
        {
            Settle(call.Proposal!, outcome);
            if (call.Decided is { } decided) return decided;
        }

        return outcome == AppendOutcome.Appended ? null : CommandOutcome.InDoubt(call);
    }

    /// <summary>Takes the outcomes of an entry that this replica has played.</summary>
    public void OnPlayed(in PlayedEntry entry)
    {
        if (entry.Key is not { } key || key.Replica != replica) return;
        lock (_gate)
        {
            if (_sent.Remove(key.Sequence, out var proposal)) proposal.Decide(entry.Outcomes);
        }
    }

    /// <summary>Takes that all entries below were played, or belong to other streams for good.</summary>
    public void OnPlayedUntil(LogPosition end)
    {
        lock (_gate)
        {
            foreach (var proposal in _sent.Values.ToArray())
            {
                // Playback would have met it: the position holds something else, and does so for good.
                if (proposal.Append is { Outcome: AppendOutcome.Unknown } append && append.Position < end
                    && append.Position >= _passedOver)
                    Decide(proposal, CommandOutcome.NotApplied);
            }
        }
    }

    /// <summary>Takes that this replica went on from a snapshot, so that it does not play what is below.</summary>
    // Invariant: no proposal below waits for playback any more. A command without a session that is known to be in the
    // log has taken effect with a result that was not computed here; all others are in doubt. Else a caller waits for
    // ever, or is given a result that this replica never had (M8).
    public void OnPassedOver(LogPosition end)
    {
        lock (_gate)
        {
            _passedOver = LogPosition.Max(_passedOver, end);
            foreach (var proposal in _sent.Values.ToArray())
            {
                if (proposal.Append is not { } append || append.Position >= end) continue;
                if (Planted.Is("skipped-is-applied"))
                    Decide(proposal, new CommandOutcome(CommandStatus.Applied, default, append.Position));
                else if (append.IsAppended) Lose(proposal, append.Position);
                else proposal.Doubt();
            }
        }
    }

    /// <summary>No call waits any more: those that were sent are in doubt, the others fail.</summary>
    public void Stop(Exception reason)
    {
        lock (_gate)
        {
            if (_stopped is not null) return;
            _stopped = reason;
            foreach (var call in _waiting) call.Fail(new MachineStoppedException(reason.Message, reason));
            _waiting.Clear();
            foreach (var proposal in _sent.Values) proposal.Doubt();
            _sent.Clear();
        }

        _stopping.Cancel();
    }

    private void ThrowIfStopped()
    {
        if (_stopped is not null) throw new MachineStoppedException(_stopped.Message, _stopped);
    }

    private void Cancel(CommandCall call, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (call.Proposal is not null) call.Doubt();
            else if (_waiting.Remove(call)) call.Cancel(cancellationToken);
        }
    }

    private Proposal Enter(ImmutableArray<CommandCall> calls, Func<ProposalKey, PlayedMark, MachineRecord> record)
    {
        var proposal = new Proposal(++_sequence, calls, record);
        foreach (var call in calls) call.Proposal = proposal;
        _sent.Add(proposal.Sequence, proposal);
        return proposal;
    }

    private void SendMore()
    {
        while (true)
        {
            Proposal proposal;
            lock (_gate)
            {
                if (_waiting.Count == 0 || _appends >= options.MaxAppends) return;
                var calls = TakeBatch();
                proposal = Enter(calls, (key, mark) => new CommandsRecord(
                    key, mark.End, mark.Digest, [.. calls.Select(static call => call.Command)]));
                _appends++;
            }

            options.Loops.Start(() => SendAsync(proposal));
        }
    }

    private ImmutableArray<CommandCall> TakeBatch()
    {
        var calls = ImmutableArray.CreateBuilder<CommandCall>();
        var bytes = 0L;
        var most = Math.Min(options.MaxBatchBytes, MaxCommand);
        while (_waiting.First is { } next && calls.Count < options.MaxBatchCommands)
        {
            bytes += next.Value.Command.Body.Length + RecordCodec.CommandOverhead;
            if (calls.Count > 0 && bytes > most) break;
            calls.Add(next.Value);
            _waiting.RemoveFirst();
        }

        return calls.ToImmutable();
    }

    private async Task SendAsync(Proposal proposal)
    {
        AppendResult result;
        try
        {
            result = await log.AppendAsync(
                RecordCodec.Write(proposal.Record(replica, played())), [stream], _stopping.Token);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            // By contract of an append that throws: nothing is in the log.
            Fail(proposal, e);
            return;
        }
        catch (Exception)
        {
            // Against that contract: the entry may be in the log.
            EndInDoubt(proposal);
            return;
        }

        End(proposal, result);
        if (!result.IsAppended) await ResolveAsync(proposal, result);
    }

    private void End(Proposal proposal, AppendResult result)
    {
        lock (_gate)
        {
            proposal.Append = result;
            _appends--;
            if (result.IsAppended) Settle(proposal, AppendOutcome.Appended);
        }

        SendMore();
        wake();
    }

    private void Fail(Proposal proposal, Exception reason)
    {
        lock (_gate)
        {
            if (_sent.Remove(proposal.Sequence)) proposal.Fail(reason);
            _appends--;
        }

        SendMore();
    }

    private void EndInDoubt(Proposal proposal)
    {
        lock (_gate)
        {
            proposal.Doubt();
            _appends--;
        }

        SendMore();
        wake();
    }

    /// <summary>Asks for the fate of an append in doubt, until playback or the log knows, or the calls have waited long
    /// enough.</summary>
    private async Task ResolveAsync(Proposal proposal, AppendResult append)
    {
        for (var attempt = 1; attempt <= options.Attempts; attempt++)
        {
            if (await TryResolveAsync(append) is var outcome and not AppendOutcome.Unknown)
            {
                lock (_gate) Settle(proposal, outcome);
                wake();
                return;
            }

            try
            {
                await Task.Delay(BackOff.After(attempt, s_pause, s_longestPause, options.Entropy), options.Time,
                    _stopping.Token);
            }
            catch (OperationCanceledException)
            {
                return;
            }
        }

        lock (_gate) proposal.Doubt();
    }

    private async Task<AppendOutcome> TryResolveAsync(AppendResult append)
    {
        try
        {
            return await log.ResolveAsync(append, _stopping.Token);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            return AppendOutcome.Unknown;
        }
    }

    // Under the gate.
    private void Settle(Proposal proposal, AppendOutcome outcome)
    {
        if (outcome == AppendOutcome.NotAppended) Decide(proposal, CommandOutcome.NotApplied);
        else if (outcome == AppendOutcome.Appended && proposal.Append is { } append && append.Position < _passedOver)
            Lose(proposal, append.Position);
    }

    private void Lose(Proposal proposal, LogPosition place)
    {
        _sent.Remove(proposal.Sequence);
        proposal.Lose(place);
    }

    private void Decide(Proposal proposal, CommandOutcome outcome)
    {
        _sent.Remove(proposal.Sequence);
        proposal.Decide(outcome);
    }
}
