using System.Buffers.Binary;
using System.IO.Hashing;
using Corfu.StateMachines.Records;

namespace Corfu.StateMachines.State;

/// <summary>A machine with what its stream says about it: a function of the stream's entries alone. No clock, no
/// I/O.</summary>
internal sealed class MachineState
{
    private const int MostResultBytes = 64 << 20;

    private readonly IStateMachine _machine;
    private readonly DigestRing _digests = new();
    private ConfigureRecord? _configured;
    private SessionTable _sessions = new(1, 1);

    public MachineState(IStateMachine machine) => _machine = machine;

    public MachineState(IStateMachine machine, SavedState saved)
    {
        _machine = machine;
        _configured = saved.Configured;
        _sessions = saved.Sessions;
        (Time, LastIntent) = (saved.Time, saved.LastIntent);
        (CommandsSince, BytesSince) = (saved.CommandsSince, saved.BytesSince);
        Played = new PlayedMark(saved.End, saved.Digest);
        _digests.Add(saved.End, saved.Digest);
    }

    public IStateMachine Machine => _machine;

    public ConfigureRecord? Configured => _configured;

    /// <summary>The position after the newest entry that was played, and the digest of all results below. Also read by
    /// others than the player.</summary>
    public PlayedMark Played { get; private set; } = new(LogPosition.Zero, 0);

    /// <summary>The newest intent that counts.</summary>
    public LogPosition? LastIntent { get; private set; }

    /// <summary>Commands since the newest intent that counts.</summary>
    public long CommandsSince { get; private set; }

    public long BytesSince { get; private set; }

    // Invariant: never falls. Else two commands see time run backwards (M11).
    private DateTimeOffset Time { get; set; } = DateTimeOffset.MinValue;

    /// <summary>Plays an entry.</summary>
    /// <exception cref="MachineException">The entry cannot be played. The state is not to be used any more: a part of
    /// the entry may have run.</exception>
    public PlayedEntry Play(LogEntry entry)
    {
        var record = RecordCodec.Read(entry.Payload);
        if (entry.WriterTime > Time || Planted.Is("time-runs-back")) Time = entry.WriterTime.ToUniversalTime();
        var place = new LogPosition(entry.Position.Offset);
        var (digest, outcomes, isCounted) = (Played.Digest, ImmutableArray<CommandOutcome>.Empty, false);

        // Invariant: the first Configure counts, and stands before all else. Else two machines share a stream (M12).
        if (record is ConfigureRecord configure) Configure(configure);
        else if (_configured is null)
            throw new MachineFormatException($"The record at {place} stands before the stream has a machine");
        switch (record)
        {
            case CommandsRecord commands:
                _digests.Tell(commands.Applied, commands.Digest);
                outcomes = Run(commands, place, ref digest);
                break;
            case OpenRecord open:
                _sessions.Open(open.Session);
                outcomes = [new CommandOutcome(CommandStatus.Applied, default, place)];
                break;
            case CloseRecord close:
                _sessions.Close(close.Session);
                outcomes = [new CommandOutcome(CommandStatus.Applied, default, place)];
                break;
            case IntentRecord intent:
                isCounted = Count(intent, place);
                outcomes = [new CommandOutcome(CommandStatus.Applied, default, place)];
                break;
        }

        Played = new PlayedMark(place.Next, digest);
        _digests.Add(place.Next, digest);
        return new PlayedEntry((record as ProposalRecord)?.Key, place, outcomes, isCounted);
    }

    /// <summary>Captures the state. Between entries only: a snapshot of half an entry would have its loader run the
    /// other half, or the first one twice (M4).</summary>
    public CapturedState Capture()
    {
        var mark = Planted.Is("captured-in-a-batch")
            ? Played with { End = new LogPosition(Played.End.Offset - 1) }
            : Played;
        return new CapturedState(SavedStateCodec.Write(this, mark, _sessions, Time), mark, _machine.Capture());
    }

    private void Configure(ConfigureRecord configure)
    {
        if (_configured is not null) return;
        _configured = configure;
        _sessions = new SessionTable(configure.MaxSessions, configure.MaxResultBytes);
    }

    // Invariant: of all intents that name the same one before, the first counts, so one replica writes. Else ten
    // replicas write ten snapshots (M6).
    private bool Count(IntentRecord intent, LogPosition place)
    {
        if (intent.Behind != LastIntent) return false;
        LastIntent = place;
        (CommandsSince, BytesSince) = (0, 0);
        return true;
    }

    private ImmutableArray<CommandOutcome> Run(CommandsRecord record, LogPosition place, ref ulong digest)
    {
        var outcomes = ImmutableArray.CreateBuilder<CommandOutcome>(record.Commands.Length);
        for (var i = 0; i < record.Commands.Length; i++)
        {
            var command = record.Commands[i];
            var outcome = Run(command, place, i);
            digest = Mix(digest, place, i, outcome);
            outcomes.Add(outcome);
            CommandsSince++;
            BytesSince += command.Body.Length;
        }

        return outcomes.MoveToImmutable();
    }

    private CommandOutcome Run(in Command command, LogPosition place, int index)
    {
        if (command.HasSession && _sessions.Use(command) is { } known) return known;
        var context = new CommandContext(place, index, command.HasSession ? command.Session : null, Time);
        ReadOnlyMemory<byte> result;
        try
        {
            result = _machine.Apply(command.Body, context);
        }
        catch (Exception e)
        {
            // The command may have run in part: nothing of this state is served or saved any more (M10).
            throw new MachineStoppedException($"The machine threw at command {index} of {place}: {e.Message}", e);
        }

        if (result.Length > MostResultBytes)
            throw new MachineStoppedException(
                $"The result of command {index} of {place} has {result.Length} bytes, limit {MostResultBytes}");
        if (command.HasSession) _sessions.Keep(command, place, result);
        return new CommandOutcome(CommandStatus.Applied, result, place);
    }

    private static ulong Mix(ulong digest, LogPosition place, int index, CommandOutcome outcome)
    {
        Span<byte> head = stackalloc byte[16];
        BinaryPrimitives.WriteInt64LittleEndian(head, place.Offset);
        BinaryPrimitives.WriteInt32LittleEndian(head[8..], index);
        BinaryPrimitives.WriteInt32LittleEndian(head[12..], (int)outcome.Status);
        var mixed = XxHash3.HashToUInt64(head, unchecked((long)digest));
        return XxHash3.HashToUInt64(outcome.Result.Span, unchecked((long)mixed));
    }
}

/// <summary>How far a machine was played, and the digest of all its results so far.</summary>
internal sealed record PlayedMark(LogPosition End, ulong Digest);

/// <summary>The effects of an entry.</summary>
/// <param name="Key">Null: no replica waits for the record.</param>
/// <param name="IsCounted">The record is an intent, and counts.</param>
internal readonly record struct PlayedEntry(
    ProposalKey? Key, LogPosition Place, ImmutableArray<CommandOutcome> Outcomes, bool IsCounted);

/// <summary>A captured state: the bytes of all but the machine, and the machine's snapshot.</summary>
internal sealed record CapturedState(ReadOnlyMemory<byte> Head, PlayedMark Mark, IMachineSnapshot Machine);
