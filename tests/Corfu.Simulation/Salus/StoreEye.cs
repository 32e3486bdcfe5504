using Corfu.Simulation.Kernel.Disk;
using Corfu.Storage;
using Salus.Protocol;
using Salus.Store.Log;

namespace Corfu.Simulation.Salus;

/// <summary>Reads a store's log from its disk: what it finds is durable, whatever the store says.</summary>
internal sealed class StoreEye(SimDisk disk, int segmentSize, IStoreVisitor visitor)
{
    private const byte FloorKind = 9;
    private const byte LastRegionKind = (byte)RegionRecordKind.Compact;

    private long _at;

    /// <summary>The disk is another one.</summary>
    public void Reset() => _at = 0;

    /// <summary>Visits the records that have become durable since the last look.</summary>
    public void Look(StoreLog log)
    {
        var until = log.DurableUntil;
        while (_at + RecordFraming.HeaderSize <= until)
        {
            var segment = _at / segmentSize;
            var bytes = disk.DurableOf($"{SimSegmentFiles.Prefix}{segment}");
            var offset = (int)(_at % segmentSize);
            if (offset + RecordFraming.HeaderSize > bytes.Length)
            {
                _at = (segment + 1) * segmentSize;
                continue;
            }

            if (!RecordFraming.TryDecode(bytes.Span[offset..], _at, out var header))
            {
                _at += IRecordLog.Alignment;
                continue;
            }

            var end = _at + RecordFraming.HeaderSize + header.BodyLength;
            if (end > until || offset + RecordFraming.HeaderSize + header.BodyLength > bytes.Length) return;
            Visit(header, bytes.Slice(offset + RecordFraming.HeaderSize, header.BodyLength));
            _at = IRecordLog.Align(end);
        }
    }

    private void Visit(in FramedHeader header, ReadOnlyMemory<byte> body)
    {
        if (header.Kind is > 0 and <= LastRegionKind) visitor.Record(RegionRecord.Decode(body));
        if (header.Kind != FloorKind) return;
        var r = new Corfu.Protocol.WireReader(body);
        visitor.Floor(r.Region(), header.Number);
    }
}

/// <summary>Told of what a store has durably.</summary>
internal interface IStoreVisitor
{
    void Record(RegionRecord record);

    /// <summary>Records of the region up to the index may go.</summary>
    void Floor(RegionKey region, long index);
}
