namespace Salus.Protocol;

/// <summary>C(X): all batches of the volume up to X are committed, as the members of X's leader say.</summary>
/// <param name="Leader">The region that decided it.</param>
public sealed record CommitProof(int Leader, BatchName Batch, Certificate Certificate)
{
    /// <param name="members">The members of the leader in the certificate's generation.</param>
    public bool IsValid(VolumeId volume, MemberSet members) => Certificate.Proves(
        Statement.Committed(new RegionKey(volume, Leader), Certificate.Generation, Batch), members);

    public void Write(ref WireWriter w)
    {
        w.Int32(Leader);
        Batch.Write(ref w);
        Certificate.Write(ref w);
    }

    public static CommitProof Read(ref WireReader r) =>
        new(r.RegionNumber(), BatchName.Read(ref r), Certificate.Read(ref r));

    /// <summary>None: nothing is committed yet, or the sender knows of none.</summary>
    internal static void WriteOptional(ref WireWriter w, CommitProof? proof)
    {
        w.Bool(proof is not null);
        proof?.Write(ref w);
    }

    internal static CommitProof? ReadOptional(ref WireReader r) => r.Bool() ? Read(ref r) : null;
}
