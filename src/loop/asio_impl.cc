// The compiled half of Asio and Beast; see BOOST_ASIO_SEPARATE_COMPILATION in cmake/BuildFlags.cmake.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
