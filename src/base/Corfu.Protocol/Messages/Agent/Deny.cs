namespace Corfu.Protocol;

/// <summary>Revokes certificates before their end. Telling one agent is enough: agents tell each other, and keep what
/// they were told. <see cref="Status.Overloaded"/>: the list is full, and none of these is on it.</summary>
public sealed record DenyRequest(Epoch Epoch, ImmutableArray<DeniedCertificate> Certificates)
    : AckRequest(Opcode.Deny, Epoch)
{
    public override void WriteBody(ref WireWriter w) => DeniedCertificate.WriteAll(ref w, Certificates);

    internal static DenyRequest Read(Epoch epoch, ref WireReader r) => new(epoch, DeniedCertificate.ReadAll(ref r));
}

/// <summary>A certificate that is revoked before its end.</summary>
/// <param name="Serial">The serial number, hexadecimal, upper case.</param>
/// <param name="IssuerKey">Identifies the key that signed it, hexadecimal, upper case: serial numbers are unique to a
/// signer.</param>
/// <param name="Until">The end of its time. It is refused anyway some time after that.</param>
public sealed record DeniedCertificate(string Serial, string IssuerKey, DateTimeOffset Until)
{
    /// <summary>Bytes of each text: RFC 5280 allows 20 bytes for a serial number, and a key's identifier is a
    /// hash.</summary>
    public const int MaxText = 128;

    /// <summary>Certificates on the list of a process, and in one message.</summary>
    public const int MaxCount = 4096;

    private const long MaxMilliseconds = 253402300799999;

    internal static void WriteAll(ref WireWriter w, ImmutableArray<DeniedCertificate> all) =>
        w.Array(all, static (ref w, one) =>
        {
            w.Text(one.Serial);
            w.Text(one.IssuerKey);
            w.Int64(one.Until.ToUnixTimeMilliseconds());
        });

    internal static ImmutableArray<DeniedCertificate> ReadAll(ref WireReader r) => r.Array(16,
        static (ref r) => new DeniedCertificate(r.Text(MaxText), r.Text(MaxText), ReadTime(ref r)), MaxCount);

    private static DateTimeOffset ReadTime(ref WireReader r) => r.Int64() is >= 0 and <= MaxMilliseconds and var time
        ? DateTimeOffset.FromUnixTimeMilliseconds(time)
        : throw new MalformedDataException("A certificate's end is out of range.");
}
