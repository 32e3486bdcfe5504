using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Corfu.FaultRuns.ZooKeeper.Clients;

/// <summary>A frame of ZooKeeper's protocol, written without the product's codec.</summary>
internal sealed class WireWriter
{
    private readonly ArrayBufferWriter<byte> _bytes = new();

    public WireWriter() => Int(0);

    public WireWriter Int(int value)
    {
        BinaryPrimitives.WriteInt32BigEndian(_bytes.GetSpan(sizeof(int)), value);
        _bytes.Advance(sizeof(int));
        return this;
    }

    public WireWriter Long(long value)
    {
        BinaryPrimitives.WriteInt64BigEndian(_bytes.GetSpan(sizeof(long)), value);
        _bytes.Advance(sizeof(long));
        return this;
    }

    public WireWriter Flag(bool value)
    {
        _bytes.Write([value ? (byte)1 : (byte)0]);
        return this;
    }

    public WireWriter Bytes(ReadOnlySpan<byte> value)
    {
        Int(value.Length);
        _bytes.Write(value);
        return this;
    }

    public WireWriter Text(string value) => Bytes(Encoding.UTF8.GetBytes(value));

    public WireWriter Texts(IReadOnlyCollection<string> values)
    {
        Int(values.Count);
        foreach (var value in values) Text(value);
        return this;
    }

    /// <summary>A list that lets anyone do all.</summary>
    public WireWriter OpenAcl() => Int(1).Int(31).Text("world").Text("anyone");

    /// <summary>The frame, with its length before it.</summary>
    public byte[] Frame()
    {
        var frame = _bytes.WrittenSpan.ToArray();
        BinaryPrimitives.WriteInt32BigEndian(frame, frame.Length - sizeof(int));
        return frame;
    }
}
