namespace Tango.Formatting;

internal sealed class BooleanFormatter : ITangoFormatter<bool>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, bool value) => writer.Write(value);

    public bool Read(ref MessagePackReader reader) => reader.ReadBoolean();
}

internal sealed class ByteFormatter : ITangoFormatter<byte>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, byte value) => writer.Write((uint)value);

    public byte Read(ref MessagePackReader reader) => reader.ReadByte();
}

internal sealed class SByteFormatter : ITangoFormatter<sbyte>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, sbyte value) => writer.Write(value);

    public sbyte Read(ref MessagePackReader reader) => reader.ReadSByte();
}

internal sealed class Int16Formatter : ITangoFormatter<short>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, short value) => writer.Write(value);

    public short Read(ref MessagePackReader reader) => reader.ReadInt16();
}

internal sealed class UInt16Formatter : ITangoFormatter<ushort>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, ushort value) => writer.Write((uint)value);

    public ushort Read(ref MessagePackReader reader) => reader.ReadUInt16();
}

internal sealed class Int32Formatter : ITangoFormatter<int>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, int value) => writer.Write(value);

    public int Read(ref MessagePackReader reader) => reader.ReadInt32();
}

internal sealed class UInt32Formatter : ITangoFormatter<uint>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, uint value) => writer.Write(value);

    public uint Read(ref MessagePackReader reader) => reader.ReadUInt32();
}

internal sealed class Int64Formatter : ITangoFormatter<long>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, long value) => writer.Write(value);

    public long Read(ref MessagePackReader reader) => reader.ReadInt64();
}

internal sealed class UInt64Formatter : ITangoFormatter<ulong>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, ulong value) => writer.Write(value);

    public ulong Read(ref MessagePackReader reader) => reader.ReadUInt64();
}

internal sealed class CharFormatter : ITangoFormatter<char>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, char value) => writer.Write((uint)value);

    public char Read(ref MessagePackReader reader) => (char)reader.ReadUInt16();
}

internal sealed class SingleFormatter : ITangoFormatter<float>
{
    public void Write(ref MessagePackWriter writer, float value) => writer.Write(value);

    public float Read(ref MessagePackReader reader) => reader.ReadSingle();
}

internal sealed class DoubleFormatter : ITangoFormatter<double>
{
    public void Write(ref MessagePackWriter writer, double value) => writer.Write(value);

    public double Read(ref MessagePackReader reader) => reader.ReadDouble();
}

internal sealed class StringFormatter : ITangoFormatter<string?>
{
    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, string? value) => writer.Write(value);

    public string? Read(ref MessagePackReader reader) => reader.ReadString();
}

internal sealed class BytesFormatter : ITangoFormatter<byte[]?>
{
    public void Write(ref MessagePackWriter writer, byte[]? value)
    {
        if (value is null) writer.WriteNil();
        else writer.WriteBinary(value);
    }

    public byte[]? Read(ref MessagePackReader reader) => reader.ReadBytes();
}

internal sealed class ReadOnlyMemoryFormatter : ITangoFormatter<ReadOnlyMemory<byte>>
{
    public void Write(ref MessagePackWriter writer, ReadOnlyMemory<byte> value) => writer.WriteBinary(value.Span);

    public ReadOnlyMemory<byte> Read(ref MessagePackReader reader) => reader.ReadBytes();
}
