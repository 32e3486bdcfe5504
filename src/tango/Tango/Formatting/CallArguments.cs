namespace Tango.Formatting;

/// <summary>Reads the parameters of a call one by one.</summary>
internal static class CallArguments
{
    /// <summary>Reads one of the parameters that form the key.</summary>
    /// <exception cref="TangoFormatException">There are not so many, or it is of another type.</exception>
    public static TValue ReadKey<TValue>(ReadOnlyMemory<byte> key, int index)
    {
        var reader = new MessagePackReader(key);
        return Read<TValue>(ref reader, index);
    }

    /// <summary>Reads one of the other parameters.</summary>
    /// <exception cref="TangoFormatException">As above.</exception>
    public static TValue Read<TValue>(ReadOnlyMemory<byte> arguments, int index)
    {
        var reader = new MessagePackReader(arguments);
        try
        {
            reader.ReadCount();
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e);
        }

        return Read<TValue>(ref reader, index);
    }

    private static TValue Read<TValue>(ref MessagePackReader reader, int index)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        try
        {
            for (; index > 0; index--) reader.SkipValue();
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e);
        }

        return TangoFormatters.Read<TValue>(ref reader);
    }
}
