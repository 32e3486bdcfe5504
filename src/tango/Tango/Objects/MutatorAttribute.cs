namespace Tango;

/// <summary>Marks a partial method <c>XAsync(args, CancellationToken)</c> that changes the object through its private
/// <c>ApplyX(args)</c>.</summary>
/// <param name="number">The record number, stored in the log: explicit, positive, unique in the class, never
/// reused.</param>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class MutatorAttribute(int number) : Attribute
{
    public int Number { get; } = number;

    /// <summary>
    /// Declares that <c>ApplyX</c> may throw <see cref="TangoObject.Reject"/>. A mutator that returns a value or may
    /// reject reads the object: its call completes once playback has applied it, and in a transaction it adds its
    /// key, or the whole object, to the read set.
    /// </summary>
    // A caller may act on a rejection, so that the commit must validate it (R16).
    public bool MayReject { get; set; }
}
