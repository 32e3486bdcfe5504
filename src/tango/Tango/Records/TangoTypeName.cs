using System.Globalization;
using System.Reflection;

namespace Tango;

/// <summary>Names of types as the directory records them: independent of assemblies and versions.</summary>
public static class TangoTypeName
{
    private static readonly Dictionary<Type, string> BuiltIn = new()
    {
        [typeof(bool)] = "bool",
        [typeof(byte)] = "uint8",
        [typeof(sbyte)] = "int8",
        [typeof(short)] = "int16",
        [typeof(ushort)] = "uint16",
        [typeof(int)] = "int32",
        [typeof(uint)] = "uint32",
        [typeof(long)] = "int64",
        [typeof(ulong)] = "uint64",
        [typeof(float)] = "float32",
        [typeof(double)] = "float64",
        [typeof(char)] = "char",
        [typeof(string)] = "string",
        [typeof(byte[])] = "bytes",
        [typeof(decimal)] = "decimal",
        [typeof(Guid)] = "guid",
        [typeof(DateTime)] = "datetime",
        [typeof(DateTimeOffset)] = "datetimeoffset",
        [typeof(TimeSpan)] = "timespan",
        [typeof(DateOnly)] = "date",
        [typeof(TimeOnly)] = "time",
    };

    /// <summary>For example <c>Generic("dictionary", typeof(string), typeof(int))</c> is
    /// <c>dictionary&lt;string,int32&gt;</c>.</summary>
    public static string Generic(string name, params ReadOnlySpan<Type> arguments)
    {
        var names = new string[arguments.Length];
        for (var i = 0; i < names.Length; i++) names[i] = Of(arguments[i]);
        return $"{name}<{string.Join(',', names)}>";
    }

    public static string Of(Type type)
    {
        if (BuiltIn.TryGetValue(type, out var name)) return name;
        if (type.IsArray) return Of(type.GetElementType()!) + "[]";
        if (Nullable.GetUnderlyingType(type) is { } underlying) return Of(underlying) + "?";
        var declared = type.GetCustomAttribute<TangoNameAttribute>()?.Name;
        if (!type.IsGenericType) return declared ?? type.FullName!;
        return declared is null ? OfParts(type) : Generic(declared, type.GetGenericArguments());
    }

    // A nested type has the arguments of the types around it: each stands behind the part that declares it, so that
    // types nested in one have names of their own.
    private static string OfParts(Type type)
    {
        var parts = type.GetGenericTypeDefinition().FullName!.Split('+');
        var arguments = type.GetGenericArguments().AsSpan();
        for (var i = 0; i < parts.Length; i++)
        {
            var tick = parts[i].IndexOf('`', StringComparison.Ordinal);
            if (tick < 0) continue;
            var own = int.Parse(parts[i].AsSpan(tick + 1), NumberStyles.None, CultureInfo.InvariantCulture);
            parts[i] = Generic(parts[i][..tick], arguments[..own]);
            arguments = arguments[own..];
        }

        return string.Join('+', parts);
    }
}
