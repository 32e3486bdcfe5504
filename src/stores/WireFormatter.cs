using System.Buffers;
using Corfu.Protocol;
using MessagePack;
using MessagePack.Formatters;

namespace Corfu;

/// <summary>A type's bytes of the wire as one binary value of a stored record.</summary>
internal sealed class WireFormatter<T>(WriteElement<T> write, ReadElement<T> read) : IMessagePackFormatter<T>
{
    public void Serialize(ref MessagePackWriter writer, T value, MessagePackSerializerOptions options)
    {
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output);
        write(ref w, value);
        w.Flush();
        // A record that could be written and not read again would stop the object at every node.
        Decode(output.WrittenMemory);
        writer.Write(output.WrittenSpan);
    }

    public T Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options)
    {
        var bytes = reader.ReadBytes() ?? throw new MalformedDataException("A stored value is nil.");
        return Decode(bytes.ToArray());
    }

    private T Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var value = read(ref r);
        r.End();
        return value;
    }
}
