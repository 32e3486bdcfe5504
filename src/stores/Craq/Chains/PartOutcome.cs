using System.Buffers;

namespace Craq.Chains;

/// <summary>The knowledge of a chain about its part of a transaction, as its records say it.</summary>
/// <param name="Reason">The cause of the refusal, where the part is aborted and the chain refused it itself.</param>
/// <param name="Index">The place of a mismatch, as in <see cref="MutateResponse.Index"/>.</param>
/// <param name="Found">The version of the object that did not fit, after a mismatch.</param>
internal sealed record PartOutcome(PartState State, Status Reason, int Index, ObjectVersion Found, MutateResult Result)
{
    // A client counts its writes from 1: a transaction's id in a window is none of theirs.
    private const long Sequence = -1;

    public static PartOutcome Aborted { get; } = Refused(Status.Ok);

    public static PartOutcome Refused(Status reason, int index = 0, ObjectVersion found = default) =>
        new(PartState.Aborted, reason, index, found, MutateResult.Empty);

    public static PartOutcome Of(PartState state, MutateResult result) => new(state, Status.Ok, 0, default, result);

    /// <summary>The id under which a window remembers how a transaction ended.</summary>
    public static WriteId IdOf(Guid transaction) => new(transaction, Sequence);

    public static bool IsTransaction(WriteId id) => id.Sequence == Sequence;

    public PartResponse ToResponse(Epoch epoch, ObjectVersion version, ObjectVersion mark) => new(Status.Ok, epoch)
    {
        State = State,
        Version = version,
        Mark = mark,
        Reason = Reason,
        Index = Index,
        Found = Found,
        Result = Result,
    };

    /// <summary>The result of the record that ends the part.</summary>
    public byte[] Encode()
    {
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output);
        w.Byte((byte)State);
        w.Byte((byte)Reason);
        w.Int32(Index);
        w.Int64(Found.Value);
        Result.Write(ref w);
        w.Flush();
        return output.WrittenSpan.ToArray();
    }

    public static PartOutcome Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        return new PartOutcome((PartState)r.Byte(), (Status)r.Byte(), r.Int32(), new ObjectVersion(r.Int64()),
            MutateResult.Read(ref r));
    }
}
