using Tango.Formatting;

namespace Tango;

/// <summary>A mutator call, read from the log.</summary>
public sealed class TangoCall
{
    internal TangoCall(LogPlace place, int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments) =>
        (Place, Mutator, Key, Arguments) = (place, mutator, key, arguments);

    public LogPlace Place { get; }

    /// <summary>The number of <see cref="MutatorAttribute"/>.</summary>
    public int Mutator { get; }

    /// <summary>The [VersionKey] parameters, as they stand in the log.</summary>
    public ReadOnlyMemory<byte> Key { get; }

    /// <summary>The other parameters, as they stand in the log.</summary>
    public ReadOnlyMemory<byte> Arguments { get; }

    /// <summary>Reads one of the [VersionKey] parameters, in their order.</summary>
    /// <exception cref="TangoFormatException">There are not so many, or it is of another type.</exception>
    public TValue ReadKey<TValue>(int index = 0) => CallArguments.ReadKey<TValue>(Key, index);

    /// <summary>Reads one of the parameters that are no [VersionKey], in their order.</summary>
    /// <exception cref="TangoFormatException">There are not so many, or it is of another type.</exception>
    public TValue ReadArgument<TValue>(int index = 0) => CallArguments.Read<TValue>(Arguments, index);
}
