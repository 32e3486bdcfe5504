using Salus.Nbd.Wire;
using Salus.Nbd.Writes;

namespace Salus.Nbd.Transmission;

/// <summary>An export as one connection has negotiated it.</summary>
/// <param name="IsStructured">The client takes structured replies.</param>
/// <param name="HasAllocation">The client has chosen the context base:allocation.</param>
internal sealed record ExportView(
    string Name, IVolume Volume, WriteOrder Writes, bool IsStructured, bool HasAllocation)
{
    public int BlockSize { get; } = Volume.BlockSize;

    public ulong Size { get; } = (ulong)Volume.Size;

    public bool IsReadOnly { get; } = Volume.IsReadOnly;

    /// <summary>Flags of an export, before and after it is mounted.</summary>
    public static TransmissionFlags FlagsOf(bool isReadOnly, bool isStructured)
    {
        // A flush covers the writes of all connections, as they share one volume.
        var flags = TransmissionFlags.HasFlags | TransmissionFlags.SendFlush | TransmissionFlags.SendFua
            | TransmissionFlags.SendCache | TransmissionFlags.CanMultiConn;
        if (isStructured) flags |= TransmissionFlags.SendDf;
        return flags | (isReadOnly
            ? TransmissionFlags.ReadOnly
            : TransmissionFlags.SendTrim | TransmissionFlags.SendWriteZeroes | TransmissionFlags.SendFastZero);
    }
}
