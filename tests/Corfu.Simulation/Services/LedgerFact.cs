using System.Buffers.Binary;
using Corfu.Simulation.Kernel;
using Tango.Ledgers;

namespace Corfu.Simulation.Services;

/// <summary>A ledger, and what all processes were told of it.</summary>
/// <param name="instance">Unique, where ids come again. In the ledger's metadata.</param>
/// <param name="began">Place of its creation's beginning among the events of the run.</param>
internal sealed class LedgerFact(int instance, long began)
{
    public const string InstanceKey = "instance";

    public int Instance => instance;

    public long Began => began;

    /// <summary>Null: its creation has no answer.</summary>
    public LedgerId? Id { get; set; }

    /// <summary>The process that writes it.</summary>
    public SimProcess? Writer { get; set; }

    /// <summary>The highest acknowledged entry; -1: none.</summary>
    public long Acknowledged { get; set; } = -1;

    /// <summary>The highest entry that a reader was told is confirmed; -1: none.</summary>
    public long Confirmed { get; set; } = -1;

    /// <summary>The last entry, as a recovery or a close returned it. Null: neither has.</summary>
    public long? End { get; set; }

    /// <summary>A process other than the writer has begun to end it.</summary>
    public bool IsFenced { get; set; }

    /// <summary>A deletion has begun.</summary>
    public bool IsDeleting { get; set; }

    /// <summary>A deletion has returned.</summary>
    public bool IsDeleted { get; set; }

    /// <summary>The content of an entry. It names its place, and its length varies.</summary>
    public byte[] DataOf(long entry)
    {
        ulong mix = (((ulong)instance << 32) + (ulong)entry) * 0x9E37_79B9_7F4A_7C15 >> 40;
        var data = new byte[2 * sizeof(long) + (int)(mix % (mix % 3 == 0 ? 3_000u : 60u))];
        BinaryPrimitives.WriteInt64LittleEndian(data, instance);
        BinaryPrimitives.WriteInt64LittleEndian(data.AsSpan(sizeof(long)), entry);
        return data;
    }
}
