using System.Runtime.InteropServices;
using Corfu.StateMachines.Records;

namespace Corfu.StateMachines.State;

/// <summary>The sessions of a machine, and the results that they keep. A function of the records alone.</summary>
/// <param name="mostBytes">Bytes of the results of all sessions; the same at every replica.</param>
internal sealed class SessionTable(int maxSessions, int maxResultBytes, long mostBytes = SessionTable.MostBytes)
{
    // A snapshot has all results in one piece, which is to have room in an array.
    public const long MostBytes = 1 << 30;

    // Bytes that a kept result counts for besides its own, at least what it takes in a snapshot.
    private const int ResultOverhead = 64;

    private readonly Dictionary<long, LinkedListNode<Session>> _byId = [];

    // Invariant: least recently used first, by the order of the records, which every replica plays alike. Else replicas
    // remove different sessions, and a command runs at one of them only (M2).
    private readonly LinkedList<Session> _byUse = [];

    // Bytes of the results of all sessions.
    private long _bytes;

    public int Count => _byId.Count;

    /// <summary>Least recently used first.</summary>
    public IEnumerable<Session> Sessions => _byUse;

    public void Open(long id)
    {
        if (_byId.ContainsKey(id)) return;
        if (_byId.Count >= maxSessions) Close(_byUse.First!.Value.Id);
        Add(new Session(id));
    }

    /// <summary>As saved: behind all that were added before.</summary>
    public void Add(Session session)
    {
        if (!_byId.TryAdd(session.Id, _byUse.AddLast(session)))
            throw new MachineFormatException($"Session {session.Id} is there twice");
        _bytes += session.ResultBytes;
    }

    public void Close(long id)
    {
        if (!_byId.Remove(id, out var node)) return;
        _byUse.Remove(node);
        _bytes -= node.Value.ResultBytes;
    }

    /// <summary>Uses the session of a command.</summary>
    /// <returns>Null: the command is to run, and its result to be kept with <see cref="Keep"/>.</returns>
    public CommandOutcome? Use(in Command command)
    {
        if (!_byId.TryGetValue(command.Session, out var node))
        {
            // A session that is not known is never begun anew: its numbers may have run (M2).
            if (!Planted.Is("gone-session-is-new")) return new CommandOutcome(CommandStatus.SessionGone);
            Open(command.Session);
            node = _byId[command.Session];
        }

        _byUse.Remove(node);
        _byUse.AddLast(node);
        var session = node.Value;
        _bytes -= session.ResultBytes;
        session.Answer(command.AnsweredBelow);
        _bytes += session.ResultBytes;
        if (command.Number < session.AnsweredBelow) return new CommandOutcome(CommandStatus.Outdated);
        if (!Planted.Is("duplicate-runs") && session.Results.TryGetValue(command.Number, out var kept))
            return new CommandOutcome(CommandStatus.AppliedBefore, kept.Bytes, kept.Place);
        return session.ResultBytes >= maxResultBytes ? new CommandOutcome(CommandStatus.SessionFull) : null;
    }

    /// <summary>Keeps the result of the command whose session was used last.</summary>
    public void Keep(in Command command, LogPosition place, ReadOnlyMemory<byte> result)
    {
        var session = _byId[command.Session].Value;
        _bytes -= session.ResultBytes;
        session.Keep(command.Number, new KeptResult(place, Whole(result)));
        _bytes += session.ResultBytes;

        // Never the session itself, which is the last.
        while (_bytes > mostBytes && _byUse.Count > 1) Close(_byUse.First!.Value.Id);
    }

    // A slice would keep the array around it.
    private static ReadOnlyMemory<byte> Whole(ReadOnlyMemory<byte> result) =>
        MemoryMarshal.TryGetArray(result, out var array) && array.Array!.Length == result.Length
            ? result
            : result.ToArray();

    internal sealed class Session(long id, long answeredBelow = 0)
    {
        // Invariant: a number that has run is here or below AnsweredBelow. Else a duplicate, sent to another replica or
        // late in the log, runs again (M1).
        private readonly SortedDictionary<long, KeptResult> _results = [];

        public long Id => id;

        public long AnsweredBelow { get; private set; } = answeredBelow;

        public IReadOnlyDictionary<long, KeptResult> Results => _results;

        public long ResultBytes { get; private set; }

        public void Answer(long below)
        {
            if (below <= AnsweredBelow) return;
            AnsweredBelow = below;
            while (_results.Count > 0)
            {
                var (number, result) = _results.First();
                if (number >= below) return;
                _results.Remove(number);
                ResultBytes -= result.Bytes.Length + ResultOverhead;
            }
        }

        public void Keep(long number, KeptResult result)
        {
            _results[number] = result;
            ResultBytes += result.Bytes.Length + ResultOverhead;
        }
    }
}

/// <summary>A result that a session keeps, and the entry in which the command ran.</summary>
internal readonly record struct KeptResult(LogPosition Place, ReadOnlyMemory<byte> Bytes);
