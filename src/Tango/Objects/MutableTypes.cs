using System.Reflection;

namespace Tango;

/// <summary>Which values can be changed in place by a reader that holds them.</summary>
internal static class MutableTypes
{
    /// <summary>Whether a view of this class holds such values as its type arguments; the analyzers refuse others as
    /// state.</summary>
    public static bool AreArgumentsOf(Type objectType) =>
        objectType.IsGenericType && Array.Exists(objectType.GetGenericArguments(), IsMutable);

    /// <summary>Interfaces and abstract classes do not say what they are, and count as immutable.</summary>
    public static bool IsMutable(Type type) => IsMutable(type, []);

    private static bool IsMutable(Type type, HashSet<Type> seen)
    {
        if (type.IsArray) return true;
        if (type.IsPrimitive || type.IsEnum || type == typeof(string) || type == typeof(LogPlace) || !seen.Add(type))
            return false;
        if (type.IsGenericType)
        {
            var definition = type.GetGenericTypeDefinition();
            if (type.Namespace == "System.Collections.Generic" && definition != typeof(KeyValuePair<,>)) return true;
            if (definition == typeof(Memory<>) || definition == typeof(ReadOnlyMemory<>)) return true;
            if (Array.Exists(type.GetGenericArguments(), argument => IsMutable(argument, seen))) return true;
        }

        var isFramework = type.Namespace is { } space && (space + ".").StartsWith("System.", StringComparison.Ordinal);
        return !isFramework && !type.IsInterface && !type.IsAbstract && HasMutableField(type, seen);
    }

    private static bool HasMutableField(Type type, HashSet<Type> seen)
    {
        const BindingFlags Declared =
            BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        for (var part = type; part is not null && part != typeof(object); part = part.BaseType)
        {
            foreach (var field in part.GetFields(Declared))
            {
                // A struct is copied with its fields.
                if (type.IsClass && !field.IsInitOnly || IsMutable(field.FieldType, seen)) return true;
            }
        }

        return false;
    }
}
