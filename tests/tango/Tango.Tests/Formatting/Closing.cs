using System.Collections.Concurrent;
using System.Reflection;
using Tango.Formatting;

namespace Tango.Tests.Formatting;

/// <summary>Calls <see cref="ClosedFormatters"/> for a type and its parts. The product has no such thing: there the
/// generator writes the calls.</summary>
internal static class Closing
{
    private static readonly ConcurrentDictionary<Type, bool> s_done = [];

    public static void Of(Type type)
    {
        if (s_done.ContainsKey(type)) return;
        if (type.IsEnum) Call("Enum", type);
        else if (type.IsSZArray && type != typeof(byte[])) OfParts("Array", type.GetElementType()!);
        else if (type.IsGenericType) OfParts(type.Name[..type.Name.IndexOf('`')], type.GetGenericArguments());
        s_done[type] = true;
    }

    private static void OfParts(string method, params Type[] parts)
    {
        foreach (var part in parts) Of(part);
        Call(method, parts);
    }

    private static void Call(string method, params Type[] arguments)
    {
        typeof(ClosedFormatters).GetMethods(BindingFlags.Public | BindingFlags.Static)
            .SingleOrDefault(m => m.Name == method && m.GetGenericArguments().Length == arguments.Length)
            ?.MakeGenericMethod(arguments).Invoke(null, null);
    }
}
