namespace Tango.Generators;

/// <summary>All that the emitter needs to know about a [TangoContext] class.</summary>
/// <param name="IsWhole">False: something is wrong with it, and its properties only get bodies, so that the compiler's
/// own errors about them do not stand beside ours.</param>
internal sealed record ContextModel(
    TypeShell Shell, string Name, bool IsGroup, bool IsWhole, EquatableArray<ContextMember> Members);

/// <summary>A partial property.</summary>
/// <param name="Declaration">Without accessors.</param>
/// <param name="Member">The last part of the object's name in the directory.</param>
internal sealed record ContextMember(string Declaration, string Type, string Property, string Member);
