namespace Tango;

/// <summary>
/// Marks a parameter of a mutator whose value stays in the log: <c>ApplyX</c> is declared without it, and no replica
/// decodes it. A view that keeps the call's <see cref="LogPlace"/> reads it from there, by
/// <see cref="TangoCall.ReadArgument"/>.
/// </summary>
/// <remarks>The records are the same with the attribute and without it.</remarks>
[AttributeUsage(AttributeTargets.Parameter, Inherited = false)]
public sealed class LogOnlyAttribute : Attribute;
