using System.Runtime.CompilerServices;

namespace Tango.Formatting;

/// <summary>An enum is its number. Numbers without a name are kept: a newer program may have written them.</summary>
internal sealed class EnumFormatter<TEnum> : ITangoFormatter<TEnum>
    where TEnum : unmanaged, Enum
{
    private static readonly bool IsSigned =
        Type.GetTypeCode(typeof(TEnum)) is TypeCode.SByte or TypeCode.Int16 or TypeCode.Int32 or TypeCode.Int64;

    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, TEnum value)
    {
        if (IsSigned)
        {
            writer.Write(Unsafe.SizeOf<TEnum>() switch
            {
                1 => Unsafe.As<TEnum, sbyte>(ref value),
                2 => Unsafe.As<TEnum, short>(ref value),
                4 => Unsafe.As<TEnum, int>(ref value),
                _ => Unsafe.As<TEnum, long>(ref value),
            });
            return;
        }
        writer.Write(Unsafe.SizeOf<TEnum>() switch
        {
            1 => Unsafe.As<TEnum, byte>(ref value),
            2 => Unsafe.As<TEnum, ushort>(ref value),
            4 => Unsafe.As<TEnum, uint>(ref value),
            _ => Unsafe.As<TEnum, ulong>(ref value),
        });
    }

    public TEnum Read(ref MessagePackReader reader)
    {
        // Conversions below keep exactly the bytes that the range check of each read admitted.
        if (IsSigned)
        {
            long signed = Unsafe.SizeOf<TEnum>() switch
            {
                1 => reader.ReadSByte(),
                2 => reader.ReadInt16(),
                4 => reader.ReadInt32(),
                _ => reader.ReadInt64(),
            };
            return FromBits(unchecked((ulong)signed));
        }
        return FromBits(Unsafe.SizeOf<TEnum>() switch
        {
            1 => reader.ReadByte(),
            2 => reader.ReadUInt16(),
            4 => reader.ReadUInt32(),
            _ => reader.ReadUInt64(),
        });
    }

    private static TEnum FromBits(ulong bits)
    {
        switch (Unsafe.SizeOf<TEnum>())
        {
            case 1:
                byte one = unchecked((byte)bits);
                return Unsafe.As<byte, TEnum>(ref one);
            case 2:
                ushort two = unchecked((ushort)bits);
                return Unsafe.As<ushort, TEnum>(ref two);
            case 4:
                uint four = unchecked((uint)bits);
                return Unsafe.As<uint, TEnum>(ref four);
            default:
                return Unsafe.As<ulong, TEnum>(ref bits);
        }
    }
}
