using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.CompilerServices;
using Tango.Formatting;

namespace Tango;

/// <summary>Which values can be changed in place by a reader that holds them.</summary>
internal static class MutableTypes
{
    private const string Fields =
        "Only where code can be compiled at run time; and a field that was trimmed is never set.";

    /// <summary>Whether a view of this class holds such values as its type arguments; the analyzers refuse others as
    /// state.</summary>
    public static bool AreArgumentsOf(Type objectType) =>
        objectType.IsGenericType && Array.Exists(objectType.GetGenericArguments(), IsMutable);

    /// <summary>Interfaces and abstract classes do not say what they are, and count as immutable.</summary>
    public static bool IsMutable(Type type) => IsMutable(type, RuntimeFeature.IsDynamicCodeSupported);

    /// <param name="showsFields">False: a native program, which keeps no record of a type's fields. There a type counts
    /// as immutable if its generated formatter says so.</param>
    internal static bool IsMutable(Type type, bool showsFields) => IsMutable(type, showsFields, []);

    private static bool IsMutable(Type type, bool showsFields, HashSet<Type> seen)
    {
        if (type.IsArray) return true;
        if (type.IsPrimitive || type.IsEnum || type == typeof(string) || type == typeof(LogPlace) || !seen.Add(type))
            return false;
        if (type.IsGenericType)
        {
            var definition = type.GetGenericTypeDefinition();
            if (type.Namespace == "System.Collections.Generic" && definition != typeof(KeyValuePair<,>)) return true;
            if (definition == typeof(Memory<>) || definition == typeof(ReadOnlyMemory<>)) return true;
            var arguments = type.GetGenericArguments();
            if (Array.Exists(arguments, argument => IsMutable(argument, showsFields, seen))) return true;
        }

        var isFramework = type.Namespace is { } space && (space + ".").StartsWith("System.", StringComparison.Ordinal);
        if (isFramework || type.IsInterface || type.IsAbstract) return false;
        return showsFields ? HasMutableField(type, seen) : !TangoFormatters.IsGeneratedImmutable(type);
    }

    [UnconditionalSuppressMessage("Trimming", "IL2070", Justification = Fields)]
    [UnconditionalSuppressMessage("Trimming", "IL2075", Justification = Fields)]
    private static bool HasMutableField(Type type, HashSet<Type> seen)
    {
        const BindingFlags Declared =
            BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        for (var part = type; part is not null && part != typeof(object); part = part.BaseType)
        {
            foreach (var field in part.GetFields(Declared))
            {
                // A struct is copied with its fields.
                if (type.IsClass && !field.IsInitOnly) return true;
                if (IsMutable(field.FieldType, showsFields: true, seen)) return true;
            }
        }

        return false;
    }
}
