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
        var plain = declared ?? PlainName(type);
        return type.IsGenericType ? Generic(plain, type.GetGenericArguments()) : plain;
    }

    private static string PlainName(Type type)
    {
        var name = type.IsGenericType ? type.GetGenericTypeDefinition().FullName! : type.FullName!;
        var tick = name.IndexOf('`', StringComparison.Ordinal);
        return tick < 0 ? name : name[..tick];
    }
}
