namespace Corfu.Protocol;

/// <summary>Grants <see cref="Count"/> consecutive positions, each for all of <see cref="Streams"/>, of which there are
/// as many at most as an entry may name. A grant is not a write.</summary>
/// <param name="GraceMilliseconds">Asks fillers to wait at least this long: for a writer that lost to fills twice
/// in a row. 0 is the default wait.</param>
/// <param name="Besides">Streams whose tails the answer tells too, for a writer that plays them; none of
/// <paramref name="Streams"/>. Default: the answer tells none.</param>
public sealed record TokenRequest(Epoch Epoch, int Count, ImmutableArray<StreamId> Streams,
    ushort GraceMilliseconds = 0, ImmutableArray<StreamId> Besides = default)
    : Request<TokenResponse>(Opcode.Token, Epoch)
{
    /// <summary>Reads and writes of the entries: none, or one for each token. From wire version 3 on; an older
    /// sequencer passes over them, and does not answer them.</summary>
    public ImmutableArray<Declaration> Declarations { get; init; } = [];

    public override bool AnswerIsTakenInline() => true;

    public override void WriteBody(ref WireWriter w)
    {
        w.Int32(Count);
        w.UInt16(GraceMilliseconds);
        w.Streams(Streams);
        if (w.Version >= WireProtocol.Version2) w.Streams(Besides.IsDefault ? [] : Besides);
        if (w.Version >= WireProtocol.Version3 && Declarations.Length > 0)
            DeclarationCodec.Write(ref w, Declarations, Streams);
    }

    internal static TokenRequest Read(Epoch epoch, ref WireReader r)
    {
        var count = r.Int32();
        if (count is < 1 or > MessageLimits.MaxTokens)
            throw new MalformedDataException("A token count is out of range.");
        var request = new TokenRequest(epoch, count, GraceMilliseconds: r.UInt16(),
            Streams: r.Streams(EntryLimits.MaxStreams),
            Besides: r.Version >= WireProtocol.Version2 && r.Remaining > 0 ? r.Streams() : []);
        return r.Version >= WireProtocol.Version3 && r.Remaining > 0
            ? request with { Declarations = DeclarationCodec.Read(ref r, count, request.Streams) }
            : request;
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new TokenResponse(status, epoch, r.Position(epoch), r.Tails(), [])
        {
            Besides = r.Version >= WireProtocol.Version2 && r.Remaining > 0 ? r.Tails() : [],
            Rulings = r.Version >= WireProtocol.Version3 && r.Remaining > 0
                ? DeclarationCodec.ReadRulings(ref r, epoch, Declarations.Length)
                : [],
        },
        Status.UnknownStream => new TokenResponse(status, epoch, default, [], r.Streams()),
        _ => Fail(status, epoch),
    };

    public override Response Fail(Status status, Epoch epoch) => new TokenResponse(status, epoch, default, [], []);
}

/// <summary>The run starts at <see cref="First"/>; <see cref="Previous"/> are the backpointers of its first token, in
/// request order. The i-th token's backpointers follow: the run's earlier positions come first.</summary>
/// <param name="Unknown">With <see cref="Status.UnknownStream"/>: the streams to hand over first.</param>
public sealed record TokenResponse(Status Status, Epoch Epoch, LogPosition First, ImmutableArray<StreamTail> Previous,
    ImmutableArray<StreamId> Unknown) : Response(Status, Epoch)
{
    /// <summary>The tails of the streams besides, in request order, as of the grant: with
    /// <see cref="Previous"/> all that these streams have below <see cref="First"/>. Empty where the sequencer does not
    /// know one of the streams, or this field.</summary>
    public ImmutableArray<StreamTail> Besides { get; init; } = [];

    /// <summary>Each token has one where the sequencer has decided. The run has the positions of the tokens that are
    /// granted, without a gap; with none, <see cref="First"/> is the tail. Empty: nothing was decided, and every token
    /// is granted.</summary>
    public ImmutableArray<Ruling> Rulings { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (Status == Status.UnknownStream) w.Streams(Unknown);
        if (!IsOk) return;
        w.Position(First);
        w.Tails(Previous);
        if (w.Version >= WireProtocol.Version2) w.Tails(Besides);
        if (w.Version >= WireProtocol.Version3 && Rulings.Length > 0) DeclarationCodec.Write(ref w, Rulings);
    }
}
