using Microsoft.Extensions.Logging.Abstractions;
using Tango;
using Tango.Checkpoints;
using Tango.Collections;
using Tango.Formatting;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using Tango.Testing;

namespace Corfu.Fuzz;

/// <summary>A checkpoint of two objects in a log of small entries, so that it has many chunks; and what a loader says
/// when a part of it is another.</summary>
internal sealed class FuzzedCheckpoint
{
    private const int MaxPayload = 640;
    private const int Entries = 600;

    // The sample's entries are copied into each new log.
    private const int InputsPerLog = 500;

    // Large enough for a number of 8 bytes.
    private static readonly RecordVersion s_version = new(new LogPosition(1L << 40), 1);

    private readonly CohortMember[] _members =
    [
        Member<TangoDictionary<string, long>>(256, "names"), Member<TangoRegister<string>>(257, "note"),
    ];

    private readonly ImmutableArray<StreamId> _stream = [CheckpointFormat.StreamOf(new ObjectId(256))];
    private readonly List<byte[]> _payloads;
    private readonly byte[] _content;
    private readonly byte[] _states;
    private readonly FinalRecord _final;
    private InMemoryCorfuLog _log = null!;
    private int _left;

    public FuzzedCheckpoint()
    {
        var log = NewLog(MaxPayload);
        new CheckpointWriter(log, 7, new TangoOptions()).WriteAsync(Sample(), CancellationToken.None).AsTask()
            .GetAwaiter().GetResult();
        _payloads = PayloadsOf(log);
        _final = CheckpointFormat.TryDecodeFinal(_payloads[^1])!;
        var content = new ChunkedBuffer();
        var parts = CheckpointContent.Write(content, Sample());
        _content = BytesOf(content);
        Head = _content[..(int)parts[0]];
        _states = _content[(int)parts[0]..];
        StateLengths = parts.RemoveAt(0);
    }

    public byte[] Head { get; }

    private ImmutableArray<long> StateLengths { get; }

    public IReadOnlyList<byte[]> Chunks => _payloads[..^1];

    public IReadOnlyList<byte[]> Finals => [_payloads[^1], CheckpointFormat.EncodeFinal(Whole(Head)).ToArray()];

    /// <summary>An entry that passes for a chunk has the bytes that the writer put into one. That it is the right one
    /// the check of the final record says.</summary>
    public void FeedChunk(byte[] bytes)
    {
        foreach (var payload in Chunks)
        {
            var (index, _) = Place(payload);
            ReadOnlyMemory<byte> found;
            try
            {
                found = CheckpointFormat.DecodeChunk(bytes, _final.Id, index);
            }
            catch (TangoFormatException)
            {
                continue;
            }

            if (!Chunks.Any(chunk => Place(chunk).Content.Span.SequenceEqual(found.Span)))
                throw new InvalidOperationException("Accepted as a chunk with another meaning");
            return;
        }

        throw new TangoFormatException("It is no chunk of the sample");
    }

    /// <summary>A checkpoint that loads behind a final record is the one that was written.</summary>
    public void FeedFinal(byte[] bytes)
    {
        var final = CheckpointFormat.TryDecodeFinal(bytes) ?? throw new TangoFormatException("It is no final record");
        var again = CheckpointFormat.TryDecodeFinal(CheckpointFormat.EncodeFinal(final))!;
        if (final with { PartLengths = again.PartLengths, Positions = again.Positions } != again
            || !final.PartLengths.SequenceEqual(again.PartLengths) || !final.Positions.SequenceEqual(again.Positions))
            throw new InvalidOperationException("A final record means another thing when it is written again");
        if (bytes.Length > MaxPayload) throw new TangoFormatException("It fits into no entry of the log");
        var loaded = Load(bytes);
        if (loaded.End != _final.End) throw new InvalidOperationException($"It ends at {loaded.End}");
        Same(_content, Encode(loaded), "a checkpoint");
    }

    /// <summary>The head of a content whose checks are right: what is loaded is written, and loads to the same.
    /// </summary>
    public void FeedHead(byte[] head)
    {
        var loaded = CheckpointFormat.TryDecodeFinal(CheckpointFormat.EncodeFinal(Whole(head))) is { } final
            ? LoadWhole(final, [.. head, .. _states])
            : throw new InvalidOperationException("A final record cannot be read");
        _ = LoadedCohort.From(loaded);
        var written = Encode(loaded);
        var again = CheckpointContent.Read(Parts(written, head: written.Length - _states.Length), _members);
        Same(written, Encode(again), "a head");
    }

    private CohortSnapshot Load(byte[] final)
    {
        if (_left-- <= 0) Restart();
        var position = Append(_log, final);
        return LoadAt(_log, position);
    }

    private CohortSnapshot LoadWhole(FinalRecord final, byte[] content)
    {
        var log = NewLog(EntryLimits.DefaultMaxPayload);
        Append(log, CheckpointFormat.EncodeChunk(final.Id, 0, content).ToArray());
        var check = CheckpointFormat.CheckAll([CheckpointFormat.Check(content)]);
        return LoadAt(log, Append(log, CheckpointFormat.EncodeFinal(final with { Check = check }).ToArray()));
    }

    private CohortSnapshot LoadAt(InMemoryCorfuLog log, LogPosition position) =>
        new CheckpointReader(log, FeatureLevel.Newest, NullLogger.Instance)
            .LoadAsync(position, _members, CancellationToken.None).AsTask().GetAwaiter().GetResult();

    // A single chunk, at position 0.
    private FinalRecord Whole(byte[] head) => _final with
    {
        Positions = [LogPosition.Zero],
        PartLengths = [head.Length, .. StateLengths],
    };

    private void Restart()
    {
        _log = NewLog(MaxPayload);
        foreach (var payload in _payloads) Append(_log, payload);
        _left = InputsPerLog;
    }

    private LogPosition Append(InMemoryCorfuLog log, byte[] payload) =>
        log.AppendToObjectsAsync(payload, _stream).AsTask().GetAwaiter().GetResult().Require();

    private ImmutableArray<ReadOnlyMemory<byte>> Parts(byte[] content, int head)
    {
        var parts = ImmutableArray.CreateBuilder<ReadOnlyMemory<byte>>();
        var at = 0;
        foreach (var length in StateLengths.Insert(0, head))
        {
            parts.Add(content.AsMemory(at, (int)length));
            at += (int)length;
        }

        return parts.ToImmutable();
    }

    private static byte[] Encode(CohortSnapshot snapshot)
    {
        var content = new ChunkedBuffer();
        CheckpointContent.Write(content, snapshot);
        return BytesOf(content);
    }

    private static byte[] BytesOf(ChunkedBuffer content) => content.Cut((int)content.Length).Single().ToArray();

    private static void Same(ReadOnlySpan<byte> expected, ReadOnlySpan<byte> found, string what)
    {
        if (!expected.SequenceEqual(found))
            throw new InvalidOperationException($"Accepted as {what} with another meaning");
    }

    private static (int Index, ReadOnlyMemory<byte> Content) Place(byte[] chunk)
    {
        var reader = new MessagePackReader(chunk);
        EntryFormat.ReadHeader(ref reader);
        reader.ReadCount();
        reader.ReadInt32();
        var index = reader.ReadInt32();
        reader.ReadUInt32();
        return (index, reader.ReadBinary());
    }

    private static InMemoryCorfuLog NewLog(int maxPayload) =>
        new(new InMemoryLogOptions { MaxPayload = maxPayload, Yield = false });

    private static List<byte[]> PayloadsOf(InMemoryCorfuLog log)
    {
        var tail = log.CheckAsync([]).AsTask().GetAwaiter().GetResult().Tail;
        ImmutableArray<LogPosition> all = [.. Enumerable.Range(0, (int)tail.Offset).Select(i => new LogPosition(i))];
        return
        [
            .. log.ReadManyAsync(all).AsTask().GetAwaiter().GetResult()
                .Select(page => page.Entry!.Payload.ToArray()),
        ];
    }

    private CohortSnapshot Sample()
    {
        var names = (TangoDictionary<string, long>)_members[0].Type!.Create();
        for (var i = 0; i < Entries; i++)
            FuzzedViews.Apply(names, "Set", FuzzedViews.Encode($"some name {i}"), FuzzedViews.Encode(new[] { i * 7L }));
        var versions = new VersionTableState(
            [new KeyVersion([1, 2], new RecordVersion(new LogPosition(3), 0)), new KeyVersion([9], s_version)],
            s_version, s_version, new RecordVersion(new LogPosition(2), 4));
        var conflict = new TxOutcome.Aborted(
            AbortReason.Conflict, new ObjectId(256), "#256", new ObjectKey([1, 2]), s_version);
        ImmutableArray<StreamId> streams = [new(256), new(300)];
        return new CohortSnapshot(
            new LogPosition((1L << 40) + 20),
            [
                new MemberSnapshot(_members[0].Entry, names, versions),
                new MemberSnapshot(_members[1].Entry, _members[1].Type!.Create(),
                    new VersionTableState([], null, null, null)),
            ],
            [
                new AwaitedDecision(new RecordVersion(new LogPosition(80), 0), streams, false, null),
                new AwaitedDecision(new RecordVersion(new LogPosition(81), 2), streams, true, null),
                new AwaitedDecision(new RecordVersion(new LogPosition(82), 0), streams, true, conflict),
            ]);
    }

    private static CohortMember Member<T>(ulong id, string name) where T : TangoObject, ITangoObject<T> =>
        new(new DirectoryEntry(new ObjectId(id), name, T.ObjectType.Name, "pair", 1024), T.ObjectType);
}
