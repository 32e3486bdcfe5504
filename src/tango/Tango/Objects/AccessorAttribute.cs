namespace Tango;

/// <summary>
/// Marks a partial method <c>XAsync(args, CancellationToken)</c> that reads the object through its private
/// <c>ReadX(args)</c>. Outside a transaction it is linearizable; inside one it reads the transaction's snapshot plus
/// its own writes.
/// </summary>
[AttributeUsage(AttributeTargets.Method, Inherited = false)]
public sealed class AccessorAttribute : Attribute;
