namespace Salus.Protocol;

/// <summary>The signatures of all members of a generation over one statement. One correct signer makes the statement
/// true.</summary>
/// <param name="Signatures">In the order of the members.</param>
public sealed record Certificate(Epoch Generation, ImmutableArray<WeakSignature> Signatures)
{
    internal const int SmallestSize = 8 + 4 + Hash128.Size;

    /// <param name="members">As Tango has them for the certificate's generation; never as a message says (S1).</param>
    public bool Proves(in Statement statement, MemberSet members)
    {
        if (Generation != members.Generation || statement.Generation != Generation) return false;
        var needed = members.Members.Length;
        if (Planted.Is("certificate-of-any-members")) needed = Math.Min(needed, Signatures.Length);
        else if (Signatures.Length != needed) return false;
        for (var i = 0; i < needed; i++)
        {
            if (!Signatures[i].IsOf(members.Members[i], statement)) return false;
        }

        return true;
    }

    public bool Equals(Certificate? other) =>
        other is not null && Generation == other.Generation
        && Signatures.AsSpan().SequenceEqual(other.Signatures.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Generation, Signatures.Length, Signatures.FirstOrDefault());

    public void Write(ref WireWriter w)
    {
        w.Epoch(Generation);
        w.Signatures(Signatures);
    }

    public static Certificate Read(ref WireReader r)
    {
        var certificate = new Certificate(r.Epoch(), r.Signatures());
        return certificate.Signatures.IsEmpty
            ? throw new MalformedDataException("A certificate has no signature.")
            : certificate;
    }

    /// <summary>A certificate that may be missing.</summary>
    internal static void WriteOptional(ref WireWriter w, Certificate? certificate)
    {
        w.Bool(certificate is not null);
        certificate?.Write(ref w);
    }

    internal static Certificate? ReadOptional(ref WireReader r) => r.Bool() ? Read(ref r) : null;
}

internal static class SignatureCodec
{
    public static void Signatures(this ref WireWriter w, ImmutableArray<WeakSignature> signatures) =>
        w.Array(signatures, static (ref w, signature) => w.Hash(signature.Value));

    public static ImmutableArray<WeakSignature> Signatures(this ref WireReader r) =>
        r.Array(Hash128.Size, static (ref r) => new WeakSignature(r.Hash()), VolumeGeometry.MaxCopies);
}
