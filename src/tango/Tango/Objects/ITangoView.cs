using System.Buffers;

namespace Tango;

/// <summary>
/// Playback's access to a view; generated code implements it explicitly, so that it does not show on the handle users
/// hold. All members are called by one thread at a time and must be deterministic: no clock, randomness, I/O or
/// unordered enumeration.
/// </summary>
public interface ITangoView
{
    /// <summary>
    /// Decodes the arguments, calls the <c>ApplyX</c> of <paramref name="mutator"/> and hands its value, if any, to
    /// <see cref="ApplyContext.Return{T}"/>. A <see cref="TangoRejectedException"/> is the declared rejection, thrown
    /// before any change. An unknown number throws <see cref="TangoUnknownRecordException"/>; undecodable
    /// arguments throw <see cref="TangoFormatException"/> or what the formatters throw. Any such exception stops the
    /// object.
    /// </summary>
    /// <param name="key">The [VersionKey] parameters one after the other; empty if the mutator has none.</param>
    /// <param name="arguments">The other parameters in declaration order, as one MessagePack array.</param>
    // A declared rejection is recorded alike everywhere; anything else stops the object (R23).
    void Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments, in ApplyContext context);

    /// <summary>Writes all view state as one MessagePack map from the field's name to its value, for a
    /// checkpoint.</summary>
    void SaveState(IBufferWriter<byte> writer);

    /// <summary>
    /// Replaces the view state of a new instance by what <see cref="SaveState"/> wrote. A field that the checkpoint
    /// lacks keeps its initial value (it was added since); a name that the class lacks is a
    /// <see cref="TangoFormatException"/>: dropping it would lose state.
    /// </summary>
    void LoadState(ReadOnlyMemory<byte> state);
}
